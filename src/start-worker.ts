import { runService } from './service.ts';

await runService({ api: false, worker: true });
