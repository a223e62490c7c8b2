/** Sends a recording of many hours through the whole service and measures memory and disk. */
import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { recognizerNames } from '../../src/recognizers/names.ts';
import { makeRecording } from './long-recording.ts';
import { startPipeline } from './pipeline-service.ts';
import { serviceEnv } from './program.ts';
import { librivoxClips } from './spoken-clips.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { PipelineRun } from './pipeline-service.ts';
import type { Client } from './session-client.ts';

const megabyte = 1_000_000;
const hourMs = 3_600_000;
const repeatedMs = hourMs / 2;
const lookEveryMs = 5_000;
const mostMemory = 300;

export const long: Bench = {
  name: 'long',
  summary: 'memory and disk of the service for one recording of many hours: [--hours H] [--recognizer R]',
  takes: ['hours', 'recognizer'],
  run,
};

async function run(setting: Setting): Promise<Findings> {
  const { choices, say } = setting;
  const hours = choices.hours ?? setting.sized({ full: 10, quick: 0.1, tiny: 0.0022 });
  say(`Making ${hours} hours of speech …`);
  const file = await makeHours(setting, hours);
  const uploadMb = (await stat(file)).size / megabyte;
  say('Starting PostgreSQL and the service …');
  const recognizer = choices.recognizer ?? process.env['RECOGNIZER'] ?? recognizerNames[0];
  const { transcribe } = await startPipeline(setting, { RECOGNIZER: recognizer });
  const disk = watchDisk(serviceEnv(setting, '')['DATA_DIR']!);
  const ours = await transcribe(file, (client, id) => tellProgress(setting, client, id)).finally(disk.stop);
  return {
    sizes: {
      hours,
      recognizer,
      'upload, FLAC, MB': Math.round(uploadMb),
      'words heard': ours.text.split(/\s+/).length,
    },
    checks: checksOf(hours, ours),
    figures: [figuresOf(hours, uploadMb, disk.peakBytes() / megabyte, ours)],
    raw: { ...ours, text: undefined, peakDiskBytes: disk.peakBytes() },
  };
}

/** Half an hour at most, repeated. FLAC is lossless and has half the size of the samples. */
async function makeHours({ folder, signal }: Setting, hours: number): Promise<string> {
  const [part, file] = [join(folder, 'part.wav'), join(folder, 'hours.flac')];
  await makeRecording(part, await librivoxClips(), Math.round(Math.min(repeatedMs, hours * hourMs)));
  const input = ['-stream_loop', '-1', '-i', part, '-t', String(hours * 3_600)];
  const output = ['-compression_level', '0', '-f', 'flac', file];
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...input, ...output], { signal });
  await rm(part);
  return file;
}

/** Prints a line for each percent until the session is final, but at most one every five seconds. */
async function tellProgress({ say, signal }: Setting, { url, key }: Client, id: string): Promise<void> {
  const began = performance.now();
  for (let told = -1; ;) {
    const response = await fetch(`${url}/v1/sessions/${id}`, { headers: { Authorization: `Bearer ${key}` }, signal });
    const { status, progress = 0 } = (await response.json()) as { status: string; progress?: number };
    if (status !== 'queued' && status !== 'processing') return;
    if (progress > told) say(`${status}, ${progress} % after ${Math.round((performance.now() - began) / 1000)} s`);
    told = Math.max(told, progress);
    await delay(lookEveryMs, undefined, { signal });
  }
}

/**
 * The most room that the files of a folder took, looked at every second. Pieces of audio have no name and are not
 * counted.
 */
function watchDisk(folder: string): { stop(): void; peakBytes(): number } {
  let peak = 0;
  const look = () => {
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
    const bytes = paths.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    peak = Math.max(
      peak,
      bytes.reduce((sum, size) => sum + size, 0),
    );
  };
  const timer = setInterval(look, 1_000);
  return { stop: () => clearInterval(timer), peakBytes: () => peak };
}

function checksOf(hours: number, { memory, ms }: PipelineRun): Check[] {
  const work = `${hours} h of speech`;
  const values = [memory.own / megabyte];
  return [
    { work, measure: 'peak memory of the service', values, unit: 'MB', goal: { atMost: mostMemory } },
    { work, measure: 'peak memory of its children', values: [memory.below / megabyte], unit: 'MB' },
    { work, measure: 'upload → transcript ÷ length', values: [ms / (hours * hourMs)] },
  ];
}

function figuresOf(
  hours: number,
  uploadMb: number,
  diskMb: number,
  { ms, cpuMs, memory, parts }: PipelineRun,
): Figures {
  const seconds = (value: number) => value / 1000;
  return {
    title: `${hours} h from upload to transcript`,
    head: ['what', ''],
    rows: [
      ['s in all', seconds(ms)],
      ['s until the 202', seconds(parts.upload)],
      ['CPU s', seconds(cpuMs)],
      ['cores in use, on average', cpuMs / ms],
      ['peak MB of the service’s own process', memory.own / megabyte],
      ['peak MB of ffmpeg and the recognizer', memory.below / megabyte],
      ['MB uploaded', uploadMb],
      ['peak MB on disk, the upload included', diskMb],
    ],
  };
}
