/**
 * What ffmpeg says while it runs, with `-loglevel level+info`: its errors, and what it read in the file's header. The
 * file may say anything of itself in its metadata. ffmpeg puts these in lines with a deeper indent.
 */

export interface FileHeader {
  /** ffmpeg's names of the format, separated by commas. */
  format: string;
  /** How long the file says it is; undefined when it doesn't say, and ffmpeg guessed. */
  durationMs: number | undefined;
  tracks: Track[];
  /** ffmpeg came to the end of the file inside of something that the file says is there. */
  endsEarly: boolean;
}

/** An audio stream. */
export interface Track {
  /** Samples per second. */
  sampleRate: number;
  isDefault: boolean;
}

const line = /^(\[.*? @ 0x[0-9a-f]+\] )?\[(quiet|panic|fatal|error|warning|info)\] (.*)$/;
/** In characters. */
const longestLine = 4096;
const mostTracks = 64;

export class FfmpegLog {
  readonly header: FileHeader = { format: '', durationMs: undefined, tracks: [], endsEarly: false };
  /** The last 4 KiB of the messages of errors, a line each. */
  errors = '';
  /** Those who start ffmpeg complain without a level. */
  #level = 'error';
  #isInHeader = false;
  #isGuess = false;
  #rest = '';

  push(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString('latin1')).split('\n');
    this.#rest = lines.pop()!.slice(0, longestLine);
    for (const text of lines) this.#read(text.slice(0, longestLine));
  }

  end(): void {
    if (this.#rest !== '') this.#read(this.#rest);
    this.#rest = '';
  }

  #read(text: string): void {
    const [, context = '', level = this.#level, message = text] = line.exec(text) ?? [];
    this.#level = level;
    if (level === 'info') return this.#readInfo(message);
    if (level === 'warning') this.#isGuess ||= message.startsWith('Estimating duration from bitrate');
    else this.errors = `${this.errors}${context}${message}\n`.slice(-longestLine);
    this.header.endsEarly ||= /partial file$|^File ended prematurely/.test(message);
  }

  #readInfo(message: string): void {
    const format = /^Input #0, (\S+), from /.exec(message)?.[1];
    if (format !== undefined) Object.assign(this.header, { format });
    this.#isInHeader = format !== undefined || (this.#isInHeader && !/^(?:Stream mapping:|Output #)/.test(message));
    if (!this.#isInHeader) return;
    const duration = /^ {2}Duration: (\d+):(\d\d):(\d\d\.\d\d),/.exec(message);
    if (duration && !this.#isGuess) {
      const [hours, minutes, seconds] = duration.slice(1).map(Number) as [number, number, number];
      this.header.durationMs = Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000);
    }
    const track = /^ +Stream #0:\d\S*: Audio: (.*)$/.exec(message)?.[1];
    if (track === undefined || this.header.tracks.length === mostTracks) return;
    const sampleRate = Number(/, (\d+) Hz,/.exec(track)?.[1] ?? 0);
    this.header.tracks.push({ sampleRate, isDefault: track.includes(' (default)') });
  }
}
