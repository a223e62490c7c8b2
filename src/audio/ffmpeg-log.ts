/**
 * What ffmpeg says while it runs, with `-loglevel +level+info`: its errors, and what it read in the file's header. The
 * file may say anything of itself in its metadata. ffmpeg puts these in lines with a deeper indent.
 */

export interface FileHeader {
  /** ffmpeg's names of the format, separated by commas. */
  format: string;
  /** How long the file says it is; undefined when it doesn't say, and ffmpeg guessed. */
  durationMs: number | undefined;
  /** When its first stream begins, as far as ffmpeg knows. */
  startMs: number;
  tracks: Track[];
  /** Beside covers. */
  hasPicture: boolean;
  /** ffmpeg came to the end of the file inside of something that the file says is there. */
  endsEarly: boolean;
}

/** An audio stream. */
export interface Track {
  /** ffmpeg's name. */
  codec: string;
  sampleRate: number;
  channels: number;
  /** It says where its channels belong, or there are one or two. */
  isPlaced: boolean;
  /** Its samples may be finer than 16 bits. */
  isFine: boolean;
  isDefault: boolean;
}

const line = /^(\[.*? @ 0x[0-9a-f]+\] )?\[(quiet|panic|fatal|error|warning|info)\] (.*)$/;
/** In characters. */
const longestLine = 4096;
const mostTracks = 64;

/** Without digits. */
const layouts: Record<string, number> = { mono: 1, quad: 4, hexagonal: 6, octagonal: 8, cube: 8, hexadecagonal: 16 };

/** @param layout such as `stereo`, `5.1(side)` and `9 channels` */
function channelsIn(layout: string): number {
  const [name = ''] = layout.split(/[ (]/);
  return /^\d/.test(name) ? name.split('.').reduce((sum, part) => sum + Number(part), 0) : (layouts[name] ?? 2);
}

export class FfmpegLog {
  readonly #onInfo: ((message: string) => void) | undefined;
  readonly header: FileHeader = {
    ...{ format: '', durationMs: undefined, startMs: 0 },
    ...{ tracks: [], hasPicture: false, endsEarly: false },
  };
  /** The last 4 KiB of the messages of errors, a line each. */
  errors = '';
  /** Those who start ffmpeg complain without a level. */
  #level = 'error';
  #isInHeader = false;
  #isGuess = false;
  #rest = '';

  /** @param onInfo gets what ffmpeg says beside warnings and errors, but for what it reads in the header */
  constructor(onInfo?: (message: string) => void) {
    this.#onInfo = onInfo;
  }

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
    if (/^ {4}Last message repeated/.test(text)) return;
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
    if (!this.#isInHeader) return this.#onInfo?.(message);
    if (/^ +Stream #0:\d\S*: Video: /.test(message)) this.header.hasPicture ||= !message.includes('(attached pic)');
    this.#readDuration(message);
    const track = /^ +Stream #0:\d\S*: Audio: (.*)$/.exec(message)?.[1];
    if (track === undefined || this.header.tracks.length === mostTracks) return;
    const sampleRate = Number(/, (\d+) Hz,/.exec(track)?.[1] ?? 0);
    const [, layout = '', samples = ''] = /, \d+ Hz, ([^,]+), (\w+)/.exec(track) ?? [];
    this.header.tracks.push({
      ...{ codec: /^\w+/.exec(track)?.[0] ?? '', sampleRate, channels: channelsIn(layout) },
      isPlaced: !/^\d+ channels/.test(layout),
      ...{ isFine: !/^(u8|s16)/.test(samples), isDefault: track.includes(' (default)') },
    });
  }

  #readDuration(message: string): void {
    const [, duration, start] = /^ {2}Duration: ([\d:.]+|N\/A)(?:, start: (-?\d+\.\d+))?,/.exec(message) ?? [];
    if (start !== undefined) this.header.startMs = Math.round(Number(start) * 1000);
    if (duration === undefined || duration === 'N/A' || this.#isGuess) return;
    const [hours, minutes, seconds] = duration.split(':').map(Number) as [number, number, number];
    this.header.durationMs = Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000);
  }
}
