import { runService } from './process/lifetime.ts';

await runService({ api: true, worker: true });
