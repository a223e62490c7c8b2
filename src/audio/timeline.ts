/** A step back smaller than this is jitter, which players and ffmpeg's resampler even out (its `min_hard_comp`). */
const jitterSeconds = 0.1;

/** A longer gap is taken for a damaged timestamp: a file of 20 KB could otherwise claim days of silence. */
const longestGapSeconds = 3600;

/**
 * ffmpeg expression that puts packets or frames on one timeline that never goes back: recordings joined byte by byte
 * start again at 0, and what follows is appended instead of being dropped. Gaps up to `longestGapSeconds` stay, so that
 * times fit the picture and players. Registers: 1 the shift so far, 2 the end so far, 3 the start of this one.
 * @param start name of its timestamp (`TS` in the filter setts, `PTS` in asetpts)
 * @param length name of its length in units of `TB`; one beyond `longestGapSeconds` is taken for damage too, and for 0
 * @param result which register to return
 */
export function timelineExpression(start: string, length: string, result: 'start' | 'end'): string {
  return [
    `st(3,if(isnan(${start}),ld(2),${start}+ld(1)))`,
    `if(lt(ld(3),ld(2)-${jitterSeconds}/TB)+gt(ld(3),ld(2)+${longestGapSeconds}/TB),st(1,ld(1)+ld(2)-ld(3));st(3,ld(2)))`,
    `st(2,max(ld(2),ld(3)+if(gt(${length},${longestGapSeconds}/TB),0,${length})))`,
    result === 'start' ? 'ld(3)' : 'ld(2)',
  ].join(';');
}
