/** A smaller step back is jitter, which players and ffmpeg's resampler even out (its `min_hard_comp`). */
const jitterSeconds = 0.1;

/** A longer gap is treated as a damaged timestamp. Otherwise a file of 20 KB could claim days of silence. */
const longestGapSeconds = 3600;

/**
 * The length that ffmpeg gives to headers inside joined Ogg Opus files with one serial number. It takes the headers of
 * later parts for audio: they begin with `Op`, and as the head of a packet that means 48 frames of 20 ms (RFC 6716,
 * section 3.2.5).
 */
const opusHeaderSeconds = 0.96;
/** No Opus packet is so long: the longest is 0.12 s. */
const noOpusPacketSeconds = 0.5;

/**
 * The ffmpeg expression that puts packets or frames on one timeline that never goes back. Recordings that were joined
 * byte by byte begin again at 0; their audio is appended instead of being dropped. Gaps up to `longestGapSeconds` stay,
 * so that times match the picture and the player. Registers: 1 is the shift so far, 2 the end so far, 3 the start of
 * this packet.
 * @param start name of its timestamp (`TS` in the filter setts, `PTS` in asetpts)
 * @param length name of its length in units of `TB`; a length that is too long counts as damaged, and as 0
 * @param result which register to return
 * @param isOggOpus headers between packets then take no time, and neither does the gap that they leave between frames
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
