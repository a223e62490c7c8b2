/** A process that keeps one model loaded and recognizes one piece after the other: JSON lines in, JSON lines out. */
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { bytesPerMs } from '../../audio/samples.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';
import type { PieceAnswer, PieceRequest, PieceResult } from './messages.ts';

/** A CommonJS package whose exports have no names that `import` could see. */
const { OfflineRecognizer } = createRequire(import.meta.url)('sherpa-onnx-node') as typeof import('sherpa-onnx-node');

const sampleRate = 16_000;
/** -60 dB. Whisper makes up words for digital silence. */
const inaudible = 0.001;

const modelConfig = JSON.parse(process.argv[2]!) as OfflineModelConfig;
const recognizer = new OfflineRecognizer({ featConfig: { sampleRate, featureDim: 80 }, modelConfig });
answer('ready');
for await (const line of createInterface({ input: process.stdin })) {
  answer(recognize(await readSamples(JSON.parse(line) as PieceRequest)));
}

function recognize(samples: Float32Array): PieceResult {
  if (samples.every((sample) => Math.abs(sample) < inaudible)) {
    return { lang: '', text: '', tokens: [], timestamps: [], durations: [], ys_log_probs: [] };
  }
  const stream = recognizer.createStream();
  stream.acceptWaveform({ samples, sampleRate });
  recognizer.decode(stream);
  return recognizer.getResult(stream);
}

/** From -1 to 1. */
async function readSamples({ file, fromMs, toMs }: PieceRequest): Promise<Float32Array> {
  await using handle = await open(file);
  const bytes = Buffer.alloc((toMs - fromMs) * bytesPerMs);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, fromMs * bytesPerMs);
  return Float32Array.from({ length: Math.floor(bytesRead / 2) }, (_, index) => bytes.readInt16LE(index * 2) / 32_768);
}

function answer(message: PieceAnswer): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
