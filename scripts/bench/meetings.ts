/** Meetings of which it is known who speaks when, made of clips of single people. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { wavHeader } from '../../src/audio/wav-header.ts';
import { randomFrom } from './random.ts';
import type { Said } from './who-said.ts';
import type { SpokenClip } from './spoken-clips.ts';

const sampleRate = 16_000;
const samplesPerMs = sampleRate / 1000;

/** How loud everybody is (root mean square), and how loud the noise is, 10 dB below. */
const [loudness, noise] = [0.06, 0.019];

/** How ffmpeg makes each kind of sound. White noise of an amplitude is as loud as that divided by √3. */
const sounds = {
  clean: [],
  overlaps: [],
  reverberation: [
    ...['-f', 'lavfi', '-i', `aevalsrc=if(eq(n\\,0)\\,1\\,0.066*exp(-11.5*t)*(2*random(0)-1)):d=0.6:s=${sampleRate}`],
    ...['-lavfi', '[0][1]afir=gtype=none'],
  ],
  noise: [
    ...['-f', 'lavfi', '-i', `anoisesrc=a=${noise * Math.sqrt(3)}:seed=1:r=${sampleRate}`],
    ...['-lavfi', '[0][1]amix=duration=first:normalize=0'],
  ],
  telephone: ['-af', 'highpass=300,lowpass=3400', '-ar', '8000', '-c:a', 'pcm_mulaw'],
} as const;

export interface MeetingPlan {
  sound: keyof typeof sounds;
  people: number;
  minutes: number;
}

export interface Meeting {
  file: string;
  turns: Said[];
}

interface Clip {
  person: string;
  text: string;
  samples: Float32Array;
}

/** Clips by person: the folder that a clip is in. */
export function voicesOf(clips: readonly SpokenClip[]): Map<string, SpokenClip[]> {
  return Map.groupBy(clips, ({ name }) => dirname(name));
}

/**
 * Writes a WAV file. People who are chosen by chance speak in turn, a clip each, with pauses of 0.2 to 1.2 s. With overlaps, every
 * third clip begins up to 1.5 s before the last one ends. When somebody has said everything, he begins again.
 * @param seed the same makes the same meeting
 */
export async function makeMeeting(
  file: string,
  voices: ReadonlyMap<string, readonly SpokenClip[]>,
  { sound, people, minutes }: MeetingPlan,
  seed: number,
): Promise<Meeting> {
  const chance = randomFrom(seed);
  const chosen = shuffled([...voices.entries()], chance).slice(0, people);
  const clips = await Promise.all(
    chosen.map(([person, own]) =>
      // The order first: which clip is decoded first is not the seed's.
      Promise.all(
        shuffled(own, chance).map(async ({ text, file }) => ({ person, text, samples: await samplesOf(file) })),
      ),
    ),
  );
  const samples = new Float32Array(Math.round(minutes * 60 * sampleRate));
  const turns = fill(samples, clips, sound === 'overlaps', chance);
  const plain = `${file}.plain.wav`;
  const bytes = Int16Array.from(samples, (value) => Math.max(-1, Math.min(1, value)) * 32_767);
  await writeFile(plain, Buffer.concat([wavHeader(bytes.byteLength), Buffer.from(bytes.buffer)]));
  await ffmpeg('-i', plain, ...sounds[sound], '-bitexact', file);
  return { file, turns };
}

/** Lets people speak until the next clip does not fit. */
function fill(samples: Float32Array, clips: readonly Clip[][], overlaps: boolean, chance: () => number): Said[] {
  const turns: Said[] = [];
  const spoken = clips.map(() => 0);
  let speaker = 0;
  for (let end = 0; ;) {
    // Anybody but who spoke last.
    speaker = (speaker + 1 + Math.floor(chance() * (clips.length - 1))) % clips.length;
    const own = clips[speaker]!;
    const clip = own[spoken[speaker]!++ % own.length]!;
    const isEarly = overlaps && turns.length % 3 === 2;
    const last = turns.at(-1);
    const pauseMs = isEarly ? -Math.min(1500, (last!.endMs - last!.startMs) / 2) * chance() : 200 + 1000 * chance();
    const start = end + Math.round(pauseMs * samplesPerMs);
    if (start + clip.samples.length > samples.length) return turns;
    clip.samples.forEach((value, index) => (samples[start + index]! += value));
    end = start + clip.samples.length;
    const [startMs, endMs] = [start, end].map((sample) => Math.round(sample / samplesPerMs)) as [number, number];
    turns.push({ who: clip.person, text: clip.text, startMs, endMs });
  }
}

/** As loud as all others, and without the silence at both ends. */
async function samplesOf(file: string): Promise<Float32Array> {
  const { stdout } = await ffmpeg('-i', file, '-ar', String(sampleRate), '-ac', '1', '-f', 'f32le', '-');
  const samples = new Float32Array(Uint8Array.from(stdout).buffer);
  const frame = 20 * samplesPerMs;
  const levels = Array.from({ length: Math.floor(samples.length / frame) }, (_, index) =>
    levelOf(samples.subarray(index * frame, (index + 1) * frame)),
  );
  const isSpoken = (level: number) => level > Math.max(...levels) / 20;
  const spoken = samples.slice(levels.findIndex(isSpoken) * frame, (levels.findLastIndex(isSpoken) + 1) * frame);
  const gain = loudness / levelOf(spoken);
  return spoken.map((value) => value * gain);
}

const levelOf = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);

const ffmpeg = (...args: string[]) =>
  promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args], {
    ...{ encoding: 'buffer', maxBuffer: 2 ** 30 },
  });

const shuffled = <T>(values: readonly T[], chance: () => number): T[] =>
  values
    .map((value) => ({ value, place: chance() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
