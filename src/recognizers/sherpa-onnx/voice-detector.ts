import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { withPauses } from '../../audio/chunks.ts';
import { laterBy } from '../../audio/spans.ts';
import { chunksOf, createSlots, processChunks } from '../in-chunks.ts';
import { howToInstall } from './known-models.ts';
import { NoModel } from './model-folder.ts';
import { ModelProcessPool } from './model-process-pool.ts';
import type { Chunk, Span } from '../../audio/chunks.ts';
import type { DecodedAudio } from '../recognizer.ts';
import type { VoicesResult } from './messages.ts';
import type { VadConfig } from 'sherpa-onnx-node';

const modelFile = 'silero_vad.onnx';

/**
 * The detector forgets what it found at the end of a window. While a voice goes on without a pause, sherpa-onnx copies all
 * of it at each step: three such minutes took 18 s of processor time in one window, and 2 s in windows of a minute.
 */
const windowMs = 60_000;
const timeLimitMs = (durationMs: number) => 60_000 + durationMs;
/** Chosen, not measured: it is much faster than any recognizer, and each process takes memory. */
const mostAtOnce = 4;
const memoryBytes = 4 * 1024 ** 3;

/**
 * A word that is taken for noise is lost, while noise that is taken for a voice only costs time. So the detector is
 * asked to be generous (0.5 is Silero's default).
 */
const threshold = 0.35;

export interface VoiceDetectorOptions {
  /** The folder of `silero_vad.onnx`. */
  folder: string;
  /** How long a process with a loaded model is kept that has nothing to do. */
  idleMs: number;
}

export type VoiceDetector = ReturnType<typeof createVoiceDetector>;

/** Silero's voice detector (https://github.com/snakers4/silero-vad), run by sherpa-onnx. */
export function createVoiceDetector({ folder, idleMs }: VoiceDetectorOptions) {
  const model = resolve(folder, modelFile);
  const slots = createSlots(Math.min(mostAtOnce, availableParallelism()));
  const explain = (message: string) => `voice detection with the model in ${folder}: ${message}`;
  const workWith = () => ({ voices: configOf(model) });
  const children = new ModelProcessPool<VoicesResult>(workWith, {
    memoryBytes,
    idleMs,
    timeLimitMs,
    most: slots.count,
    explain,
  });

  const detector = {
    /**
     * Hears a second of silence.
     * @throws what `findSpeech` throws
     */
    async check(): Promise<void> {
      // A file of zeros without an end is silence.
      await detector.findSpeech({ file: '/dev/zero', durationMs: 1_000, silences: [] }, new AbortController().signal);
    },
    /**
     * @returns in order, none touching another
     * @throws {NoModel}
     * @throws {RecognizerError} the message names the folder
     * @throws the abort reason of `signal`
     */
    async findSpeech(audio: DecodedAudio, signal: AbortSignal): Promise<Span[]> {
      await access(model).catch((cause: unknown) => {
        throw new NoModel(`Voices can not be detected: ${folder} holds no ${modelFile}. ${howToInstall('vad')}`, {
          cause,
        });
      });
      const processWindow = ({ windowStartMs: fromMs, windowEndMs: toMs }: Chunk, stop: AbortSignal) =>
        children.ask({ file: audio.file, fromMs, toMs }, stop);
      const cut = chunksOf(audio, { longestMs: windowMs, overlapMs: 0 });
      const windows = await processChunks(cut, slots, processWindow, { signal });
      const voices = windows.flatMap(({ chunk, result }) =>
        result.speech.map(([startMs, endMs]) => laterBy(chunk.startMs, { startMs, endMs })),
      );
      return withPauses(voices, 0);
    },
    close: (): Promise<void> => children.close(),
  };
  return detector;
}

function configOf(model: string): VadConfig {
  return {
    sileroVad: {
      ...{ model, threshold, windowSize: 512 },
      ...{ minSpeechDuration: 0.1, minSilenceDuration: 0.5, maxSpeechDuration: (2 * windowMs) / 1000 },
    },
    ...{ sampleRate: 16_000, numThreads: 1, provider: 'cpu' },
  };
}
