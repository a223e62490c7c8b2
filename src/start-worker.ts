import { runService } from './process/service.ts';

await runService({ api: false, worker: true });
