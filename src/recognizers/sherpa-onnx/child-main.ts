/** A process that keeps its models loaded and transcribes one chunk after the other: JSON lines in, JSON lines out. */
import { writeFileSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { bytesPerMs, endsTooEarly, samplesPerMs } from '../../audio/samples.ts';
import { answerMark } from './messages.ts';
import { speechToKnow, turnsBySpeaker } from './voices.ts';
import type { OfflineModelConfig, OfflineResult, OfflineSpeakerDiarizationConfig, VadConfig } from 'sherpa-onnx-node';
import type { Span } from '../../audio/chunks.ts';
import type { ChildAnswer, ChildWork, ChunkRequest, VoicesResult, WindowResult } from './messages.ts';

/** A CommonJS package, whose exports `import` can't see by their names. */
const sherpa = createRequire(import.meta.url)('sherpa-onnx-node') as typeof import('sherpa-onnx-node');

const sampleRate = 16_000;
/** -60 dB. Quieter audio is not recognized: Whisper makes up words for digital silence. */
const inaudible = 0.001;

// When there is no memory left, the kernel shall kill this process, not PostgreSQL or the API. Without the right to say
// so, it goes on.
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);
const work = JSON.parse(process.argv[2]!) as ChildWork;
const recognize = recognizerFor(work);
answer('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as ChunkRequest;
  answer(recognize(await readSamples(request), request));
}

type Hear<Result> = (samples: Float32Array, request: ChunkRequest) => Result;

function recognizerFor(work: ChildWork): Hear<OfflineResult | WindowResult | VoicesResult> {
  if ('diarization' in work) return createDiarization(work.diarization);
  return 'voices' in work ? createVoices(work.voices) : createRecognition(work.recognition);
}

function createRecognition(modelConfig: OfflineModelConfig): Hear<OfflineResult> {
  const featConfig = { sampleRate, featureDim: 80 };
  const recognizer = new sherpa.OfflineRecognizer({ featConfig, modelConfig });
  let told: string | undefined;
  return (heard, { language, silenceMs = 0 }) => {
    if (language !== told) recognizer.setConfig({ featConfig, modelConfig: speaking(modelConfig, language) });
    told = language;
    if (isInaudible(heard)) {
      return { lang: '', text: '', tokens: [], timestamps: [], durations: [], ys_log_probs: [] };
    }
    const samples = new Float32Array(heard.length + 2 * silenceMs * samplesPerMs);
    samples.set(heard, silenceMs * samplesPerMs);
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate });
    recognizer.decode(stream);
    const { timestamps, segment_timestamps: starts, ...result } = recognizer.getResult(stream);
    const earlier = (seconds: number) => Math.max(0, seconds - silenceMs / 1000);
    return {
      ...result,
      timestamps: timestamps.map(earlier),
      // One that began in the silence is cut off with its end known.
      ...(starts && { segment_timestamps: starts.map((seconds) => seconds - silenceMs / 1000) }),
    };
  };
}

/** @param language the model's own code; undefined: it detects the language, or has one only */
function speaking(config: OfflineModelConfig, language: string | undefined): OfflineModelConfig {
  if (language === undefined) return config;
  const { whisper, senseVoice, canary } = config;
  return {
    ...config,
    ...(whisper && { whisper: { ...whisper, language } }),
    ...(senseVoice && { senseVoice: { ...senseVoice, language } }),
    // It translates when these differ.
    ...(canary && { canary: { ...canary, srcLang: language, tgtLang: language } }),
  };
}

function createDiarization(config: OfflineSpeakerDiarizationConfig): Hear<WindowResult> {
  const diarization = new sherpa.OfflineSpeakerDiarization(config);
  if (diarization.sampleRate !== sampleRate) throw new Error(`the model hears ${diarization.sampleRate} Hz only`);
  const extractor = new sherpa.SpeakerEmbeddingExtractor(config.embedding);

  const embeddingOf = (samples: Float32Array, spans: readonly Span[]): string => {
    const stream = extractor.createStream();
    for (const { startMs, endMs } of spans) {
      stream.acceptWaveform({ samples: samples.subarray(startMs * samplesPerMs, endMs * samplesPerMs), sampleRate });
    }
    stream.inputFinished();
    const { buffer, byteOffset, byteLength } = extractor.compute(stream, false);
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  };

  const turnsIn = (samples: Float32Array) => {
    // Padded to whole seconds, because its windows begin one second apart. Otherwise it pads itself, and exits when it
    // hears speech there.
    const padded = new Float32Array(Math.ceil(samples.length / sampleRate) * sampleRate);
    padded.set(samples);
    const lengthMs = Math.floor(samples.length / samplesPerMs);
    return diarization
      .process(padded)
      .map(({ start, end, speaker }) => ({ startMs: Math.round(start * 1000), endMs: Math.round(end * 1000), speaker }))
      .map((turn) => ({ ...turn, endMs: Math.min(turn.endMs, lengthMs) }))
      .filter(({ startMs, endMs }) => endMs - startMs >= config.minDurationOn * 1000);
  };

  return (samples) => {
    if (isInaudible(samples)) return { speakers: [] };
    const turns = turnsIn(samples);
    const speakers = turnsBySpeaker(turns).map((own) => {
      const others = turns.filter(({ speaker }) => speaker !== own[0]!.speaker);
      return {
        turns: own.map(({ startMs, endMs }): [number, number] => [startMs, endMs]),
        embedding: embeddingOf(samples, speechToKnow(own, others)),
      };
    });
    return { speakers };
  };
}

function createVoices(config: VadConfig): Hear<VoicesResult> {
  const { windowSize, maxSpeechDuration } = config.sileroVad;
  const detector = new sherpa.Vad(config, maxSpeechDuration);
  const toMs = (position: number) => Math.round(position / samplesPerMs);
  return (samples) => {
    detector.reset();
    for (let start = 0; start < samples.length; start += windowSize) {
      const window = new Float32Array(windowSize);
      window.set(samples.subarray(start, start + windowSize));
      detector.acceptWaveform(window);
    }
    detector.flush();
    const speech: VoicesResult['speech'] = [];
    for (; !detector.isEmpty(); detector.pop()) {
      const { start, samples: spoken } = detector.front(false);
      speech.push([toMs(start), toMs(Math.min(start + spoken.length, samples.length))]);
    }
    return { speech };
  };
}

function isInaudible(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) < inaudible);
}

/** Samples from -1 to 1. */
async function readSamples({ file, fromMs, toMs }: ChunkRequest): Promise<Float32Array> {
  await using handle = await open(file);
  const bytes = Buffer.alloc((toMs - fromMs) * bytesPerMs);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, fromMs * bytesPerMs);
  if (bytesRead < bytes.length) throw endsTooEarly(file);
  const samples = new Float32Array(bytes.length / 2);
  for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(index * 2) / 32_768;
  return samples;
}

function answer(message: ChildAnswer): void {
  // At once, so that it stands behind what the addon wrote.
  writeFileSync(1, `\n${answerMark}${JSON.stringify(message)}\n`);
}
