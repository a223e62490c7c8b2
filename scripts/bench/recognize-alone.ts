/**
 * The recognizer with nothing of the service around it, in a process of its own: `recognize-alone.ts FILE FOLDER` prints what it
 * heard and what that cost. Decoding counts, loading the model does not, as in a service that is at work.
 */
import { join } from 'node:path';
import { decodeAudio } from '../../src/audio/decode.ts';
import { readConfig } from '../../src/config/config.ts';
import { selectRecognizer } from '../../src/recognizers/select.ts';
import { cpuOfTree, watchMemory } from './process-tree.ts';
import type { Cost } from './session-client.ts';

/** Far above what any recording takes. */
const limits = { maxDurationMs: 24 * 3_600_000, timeLimitMs: 3_600_000 };

const [input, folder] = process.argv.slice(2) as [string, string];
const { signal } = new AbortController();
const recognizer = await selectRecognizer(readConfig(process.env));
await recognizer.check();
const memory = watchMemory(process.pid);
const [cpuBefore, began] = [cpuOfTree(process.pid), performance.now()];
const output = join(folder, 'alone.s16le');
const audio = { file: output, ...(await decodeAudio({ input, output, signal, ...limits })) };
const { segments } = await recognizer.recognize(audio, { signal });
const cost: Cost = {
  text: segments.map(({ text }) => text).join(' '),
  ms: performance.now() - began,
  cpuMs: cpuOfTree(process.pid) - cpuBefore,
  memory: memory.stop(),
};
await recognizer.close();
process.stdout.write(JSON.stringify(cost));
