import { splitLines } from '../children/lines.ts';

/** A stretch without speech, in ms from the start of the audio. */
export interface Silence {
  startMs: number;
  endMs: number;
}

/**
 * Quieter than the noise of most rooms, and shorter than a breath. A wrong guess only makes a cut less lucky (see
 * pieces.ts): no word depends on it.
 */
const loudest = '-38dB';
const shortestSeconds = 0.2;

/** ffmpeg filters for the end of a chain: they leave the audio as it is and print silences to descriptor 3. */
export const silenceFilters = [
  `silencedetect=noise=${loudest}:duration=${shortestSeconds}`,
  String.raw`ametadata=mode=print:file='pipe\:3'`,
];

export interface SilenceReader {
  /** For `ChildOptions.onDescriptor3`. */
  push: (chunk: Buffer) => void;
  /**
   * In order.
   * @param durationMs the end of a silence that lasts until the end of the audio
   */
  silences: (durationMs: number) => Silence[];
}

/** Reads what {@link silenceFilters} print: `lavfi.silence_start=1.5` and `lavfi.silence_end=2.25` among other lines. */
export function readSilences(): SilenceReader {
  const silences: Silence[] = [];
  const lines = splitLines((line) => {
    const [, edge, seconds] = /^lavfi\.silence_(start|end)=(-?[\d.]+)$/.exec(line) ?? [];
    const ms = Math.max(0, Math.round(Number(seconds) * 1000));
    if (edge === 'start') silences.push({ startMs: ms, endMs: Infinity });
    else if (edge === 'end' && silences.length > 0) silences.at(-1)!.endMs = ms;
  });
  return {
    push: lines.push,
    silences(durationMs) {
      lines.end();
      return silences
        .map(({ startMs, endMs }) => ({ startMs, endMs: Math.min(endMs, durationMs) }))
        .filter(({ startMs, endMs }) => startMs < endMs);
    },
  };
}
