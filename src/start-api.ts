import { runService } from './process/service.ts';

await runService({ api: true, worker: false });
