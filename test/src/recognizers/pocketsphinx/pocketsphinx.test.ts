import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../../src/audio/decode.ts';
import { createSlots } from '../../../../src/recognizers/in-pieces.ts';
import { createPocketSphinx } from '../../../../src/recognizers/pocketsphinx/pocketsphinx.ts';
import { RecognizerError } from '../../../../src/recognizers/recognizer.ts';
import type { Transcript } from '../../../../src/recognizers/recognizer.ts';
import { speechClips } from '../../../support/uploads/audio-fixtures.ts';
import { childrenOf } from '../../../support/service/processes.ts';
import { expectWellFormed, recognizerConformance } from '../conformance/conformance.ts';
import { crashConformance } from '../conformance/crash.ts';
import { cutConformance } from '../conformance/cuts.ts';
import { speechConformance } from '../conformance/speech.ts';
import { useFolder } from '../../../support/use-folder.ts';

recognizerConformance('pocketsphinx', createPocketSphinx);
speechConformance('pocketsphinx', createPocketSphinx);
crashConformance('pocketsphinx', createPocketSphinx, () => childrenOf(process.pid, 'pocketsphinx_continuous'));
cutConformance('pocketsphinx', () => createPocketSphinx({ slots: createSlots(4) }), 30_000);

const folder = useFolder();

test('a clip of human speech → clean words, sure between 0 and 1, where they are said', async () => {
  const [clip] = await speechClips();
  const output = join(folder, 'clip');
  const limits = { maxDurationMs: 60_000, timeLimitMs: 30_000 };
  const { durationMs, silences } = await decodeAudio({ input: clip!.file, output, ...limits });
  expect(durationMs).toBe(clip!.durationMs);
  const signal = new AbortController().signal;
  const transcript = await createPocketSphinx().recognize({ file: output, durationMs, silences }, { signal });
  expect(transcript.language).toBe('en-US');
  expectWellFormed(transcript, durationMs);
  expect(transcript.segments).not.toEqual([]);
  for (const { confidence, words } of transcript.segments) {
    expect(confidence).toBeGreaterThan(0);
    for (const word of words) expect(word.text).toMatch(/^[a-z'.-]+$/);
  }
});

/** The real adapter around a program that prints what is asked, in place of PocketSphinx. */
async function recognizeWith(script: string, timeLimitMs = 30_000): Promise<Transcript> {
  const program = join(folder, 'fake-pocketsphinx');
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const recognizer = createPocketSphinx({ program, timeLimitMs: () => timeLimitMs });
  const signal = new AbortController().signal;
  return recognizer.recognize({ file: join(folder, 'clip'), durationMs: 3000, silences: [] }, { signal });
}

test('output with fillers, second pronunciations and odd probabilities → clean words', async () => {
  const lines = [
    'the cat',
    '<s> 0.000 0.190 0.999600',
    '[NOISE] 0.200 0.300 0.5',
    'the(2) 0.310 0.400 1.000200',
    '<sil> 0.410 0.500 0.9',
    '++BREATH++ 0.510 0.600 0.9',
    'cat 0.610 3.400 -nan',
    '</s> 3.410 3.500 1.0',
    '',
    '<s> 3.510 3.600 1.0',
    '</s> 3.610 3.700 1.0',
  ];
  expect(await recognizeWith(`cat <<'END'\n${lines.join('\n')}\nEND`)).toEqual({
    language: 'en-US',
    segments: [
      {
        index: 0,
        startMs: 310,
        endMs: 3000,
        text: 'the cat',
        confidence: 1,
        words: [
          { startMs: 310, endMs: 400, text: 'the', confidence: 1 },
          { startMs: 610, endMs: 3000, text: 'cat' },
        ],
      },
    ],
  });
});

test.each([
  ['exit code', 'echo broken model >&2; exit 3', /exit code 3: broken model/],
  ['crash', 'kill -SEGV $$', /killed by SIGSEGV/],
  ['crash after an utterance', 'printf "hi\\nhi 0.000 0.190 0.9\\n"; kill -KILL $$', /killed by SIGKILL/],
  ['rubbish', 'echo some; echo rubbish', /something else than words/],
  ['binary rubbish', 'head -c 100000 /dev/zero', /too long/],
  ['endless rubbish', 'yes rubbish', /something else than words/],
  ['words without utterance', 'echo "hi 0.000 0.190 0.9"', /before its utterance/],
  ['half an utterance', 'echo hi', /middle of an utterance/],
])('%s → RecognizerError, retryable', async (_, script, message) => {
  const error = await recognizeWith(script).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(RecognizerError);
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: true });
  expect(error).toHaveProperty('message', expect.stringMatching(message));
});

test('a recognizer that hangs → timed_out', async () => {
  await expect(recognizeWith('exec sleep 1000', 200)).rejects.toMatchObject({ code: 'timed_out', retryable: true });
});

test('another language than English → LanguageNotKnown, as check says', async () => {
  const recognizer = createPocketSphinx();
  const audio = { file: join(folder, 'clip'), durationMs: 3000, silences: [] };
  const { signal } = new AbortController();
  await recognizer.check('en-GB');
  const refusal = { code: 'language_not_supported', known: ['en'], retryable: false };
  await expect(recognizer.check('de')).rejects.toMatchObject(refusal);
  await expect(recognizer.recognize(audio, { signal, language: 'de' })).rejects.toMatchObject(refusal);
});

test('not installed → check and recognize say what to install', async () => {
  const recognizer = createPocketSphinx();
  const path = process.env['PATH'];
  process.env['PATH'] = folder;
  try {
    const signal = new AbortController().signal;
    const audio = { file: join(folder, 'clip'), durationMs: 3000, silences: [] };
    const hint = 'apt-get install pocketsphinx pocketsphinx-en-us';
    await expect(recognizer.check()).rejects.toThrow(hint);
    await expect(recognizer.recognize(audio, { signal })).rejects.toThrow(RecognizerError);
    await expect(recognizer.recognize(audio, { signal })).rejects.toThrow(hint);
  } finally {
    process.env['PATH'] = path;
  }
});
