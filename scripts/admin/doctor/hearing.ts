/** What turns audio into words, tried with a second of a tone. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { bytesPerMs, samplesPerMs } from '../../../src/audio/samples.ts';
import { wavHeader } from '../../../src/audio/wav-header.ts';
import { findLimiters, findExecutable, findIsolation } from '../../../src/children/bounded-command.ts';
import { selectListener, selectRecognizer } from '../../../src/recognizers/select.ts';
import type { Decoded } from '../../../src/audio/decode.ts';
import type { Check, Patient } from './check.ts';

const toneMs = 1_000;
const longestMs = 60_000;

async function ffmpeg(): Promise<string> {
  await findExecutable('ffmpeg');
  await findLimiters();
  await withTone(async ({ durationMs }) => {
    if (durationMs !== toneMs) throw new Error(`a second of a tone became ${durationMs} ms`);
  });
  const isolation = await findIsolation();
  return `decodes; ${isolation === 'none' ? 'with network access: this machine allows no namespaces' : `in a ${isolation}`}`;
}

async function recognizer({ config }: Patient): Promise<string> {
  const whole = await selectRecognizer(config);
  // Its voice detector would find nobody in a tone, and nothing would be asked.
  const listener = await selectListener(config);
  try {
    await whole.check(config.recognizerLanguage);
    const began = performance.now();
    await withTone(({ durationMs, silences }, file) =>
      listener.recognize(
        { file, durationMs, silences, speech: [{ startMs: 0, endMs: durationMs }] },
        { signal: AbortSignal.timeout(longestMs), language: config.recognizerLanguage },
      ),
    );
    return `${listener.name} heard a second of a tone in ${((performance.now() - began) / 1000).toFixed(1)} s`;
  } finally {
    await Promise.all([whole.close(), listener.close()]);
  }
}

/** Decodes it as an upload is decoded, and hands on the file of samples. */
async function withTone(use: (tone: Decoded, file: string) => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const [input, output] = [join(folder, 'tone'), join(folder, 'samples')];
  try {
    const samples = Buffer.alloc(toneMs * bytesPerMs);
    for (let at = 0; at < toneMs * samplesPerMs; at += 1)
      samples.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / (1_000 * samplesPerMs))), 2 * at);
    await writeFile(input, Buffer.concat([wavHeader(samples.length), samples]));
    await use(await decodeAudio({ input, output, maxDurationMs: 2 * toneMs, timeLimitMs: longestMs }), output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const hearingChecks: Check[] = [
  { name: 'ffmpeg', look: ffmpeg, todo: 'Install ffmpeg and util-linux; "ffmpeg -version" says why it does not run.' },
  {
    ...{ name: 'recognizer', look: recognizer },
    todo: 'See src/recognizers/README.md; npm run model -- list shows the models that are installed.',
  },
];
