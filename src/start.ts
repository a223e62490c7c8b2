import { runService } from './service.ts';

await runService({ api: true, worker: true });
