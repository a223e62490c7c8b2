/** The five limits of plans and accounts: as options, as JSON and in words. */
import { maxRunningJobs } from '../../src/queue/jobs.ts';
import { positiveDuration, wholeNumber } from './arguments.ts';
import { formatDuration } from './durations.ts';
import type { Command } from 'commander';
import type { LimitOverrides, Limits } from '../../db/schema.ts';

interface LimitName {
  column: keyof Limits;
  json: string;
  label: string;
  /** How people see it; without it, a plain number. */
  show?: (value: number) => string;
}

/** The columns are `int`, and the API's durations and sizes have the same largest value. */
const maxInt = 2_147_483_647;
const maxCount = 1_000_000;

export const limitNames: readonly LimitName[] = [
  { column: 'requests_per_minute', json: 'requestsPerMinute', label: 'Requests/minute' },
  { column: 'queued_sessions', json: 'queuedSessions', label: 'Queued sessions' },
  { column: 'running_jobs', json: 'runningJobs', label: 'Running jobs' },
  { column: 'max_upload_bytes', json: 'maxUploadBytes', label: 'Largest upload', show: formatBytes },
  { column: 'max_audio_ms', json: 'maxAudioMs', label: 'Longest audio', show: formatDuration },
];

export const shownLimit = ({ show = String }: LimitName, value: number): string => show(value);

export function jsonLimits(limits: Limits) {
  return {
    requestsPerMinute: limits.requests_per_minute,
    queuedSessions: limits.queued_sessions,
    runningJobs: limits.running_jobs,
    maxUploadBytes: limits.max_upload_bytes,
    maxAudioMs: limits.max_audio_ms,
  };
}

/** Some limits, for the log of what support did; null where an account has its own no more. */
export const limitDetails = (limits: Partial<LimitOverrides>) =>
  Object.fromEntries(limitNames.flatMap(({ column, json }) => (column in limits ? [[json, limits[column]]] : [])));

export interface LimitOptions {
  requestsPerMinute?: number;
  queuedSessions?: number;
  runningJobs?: number;
  maxUploadBytes?: number;
  maxAudio?: number;
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--requests-per-minute <n>', 'requests in a window of 60 seconds', wholeNumber(0, maxCount))
    .option('--queued-sessions <n>', 'sessions that may wait at once', wholeNumber(0, maxCount))
    .option('--running-jobs <n>', `jobs at once, 1 to ${maxRunningJobs}`, wholeNumber(1, maxRunningJobs))
    .option('--max-upload-bytes <n>', `bytes of a file, up to ${maxInt}`, wholeNumber(1, maxInt))
    .option('--max-audio <duration>', 'length of an audio, such as 4h', positiveDuration(maxInt));
}

/** Only the limits that were typed. */
export function typedLimits(options: LimitOptions): Partial<Limits> {
  return {
    ...(options.requestsPerMinute !== undefined && { requests_per_minute: options.requestsPerMinute }),
    ...(options.queuedSessions !== undefined && { queued_sessions: options.queuedSessions }),
    ...(options.runningJobs !== undefined && { running_jobs: options.runningJobs }),
    ...(options.maxUploadBytes !== undefined && { max_upload_bytes: options.maxUploadBytes }),
    ...(options.maxAudio !== undefined && { max_audio_ms: options.maxAudio }),
  };
}

/** A number of bytes in the largest unit that gives it exactly. */
function formatBytes(bytes: number): string {
  const [unit, name] = (
    [
      [1024 ** 3, 'GiB'],
      [1024 ** 2, 'MiB'],
    ] as const
  ).find(([size]) => bytes > 0 && bytes % size === 0) ?? [1, 'bytes'];
  return `${bytes / unit} ${name}`;
}
