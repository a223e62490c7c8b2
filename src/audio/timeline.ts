/** A step back smaller than this is jitter, which players and ffmpeg's resampler even out (its `min_hard_comp`). */
const jitterSeconds = 0.1;

/** A longer gap is taken for a damaged timestamp: a file of 20 KB could otherwise claim days of silence. */
const longestGapSeconds = 3600;

/**
 * Of Ogg Opus files that were joined with one serial number, ffmpeg takes the headers of later parts for audio: each
 * begins with `Op`, which as the head of a packet claims 48 frames of 20 ms (RFC 6716, section 3.2.5).
 */
const opusHeaderSeconds = 0.96;
/** Longer than any packet of Opus, which is 0.12 s at most. */
const noOpusPacketSeconds = 0.5;

/**
 * ffmpeg expression that puts packets or frames on one timeline that never goes back: recordings joined byte by byte
 * start again at 0, and what follows is appended instead of being dropped. Gaps up to `longestGapSeconds` stay, so that
 * times fit the picture and players. Registers: 1 the shift so far, 2 the end so far, 3 the start of this one.
 * @param start name of its timestamp (`TS` in the filter setts, `PTS` in asetpts)
 * @param length name of its length in units of `TB`; one that is too long is taken for damage too, and for 0
 * @param result which register to return
 * @param isOggOpus headers between packets take no time then, nor does the gap that they leave between frames
 */
export function timelineExpression(start: string, length: string, result: 'start' | 'end', isOggOpus: boolean): string {
  const longestSeconds = isOggOpus ? noOpusPacketSeconds : longestGapSeconds;
  const isHeaderGap = isOggOpus ? `+lt(abs(ld(3)-ld(2)-${opusHeaderSeconds}/TB),0.01/TB)` : '';
  return [
    `st(3,if(isnan(${start}),ld(2),${start}+ld(1)))`,
    `if(lt(ld(3),ld(2)-${jitterSeconds}/TB)+gt(ld(3),ld(2)+${longestGapSeconds}/TB)${isHeaderGap},st(1,ld(1)+ld(2)-ld(3));st(3,ld(2)))`,
    `st(2,max(ld(2),ld(3)+if(gt(${length},${longestSeconds}/TB),0,${length})))`,
    result === 'start' ? 'ld(3)' : 'ld(2)',
  ].join(';');
}
