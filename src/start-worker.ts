import { runService } from './process/lifetime.ts';

await runService({ api: false, worker: true });
