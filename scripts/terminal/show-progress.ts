import { showBarsOn } from './bars.ts';
import type { Progress } from './bars.ts';
import type { Screen } from './terminal.ts';

/**
 * Bars on a terminal; plain lines in a file, a pipe or a CI log.
 * @param options.keep whether a bar stays to be seen when its step has ended; otherwise whoever began it says what came
 */
export function showProgressOn(stream: Screen, { keep = true } = {}): Progress {
  return stream.isTTY ? showBarsOn(stream, keep) : lines(stream, keep);
}

/** For programs: what they read is the answer alone. */
export const noProgress: Progress = {
  say() {},
  begin: () => ({ reach() {}, next() {}, end() {} }),
};

const pauseBetweenLinesMs = 3_000;

function lines(stream: Screen, keep: boolean): Progress {
  const say = (line: string) => void stream.write(`${line}\n`);
  return {
    say,
    begin(firstTitle, firstTotal) {
      let title = firstTitle;
      let total = firstTotal;
      let saidAt = 0;
      let saidPercent = 0;
      let ended = false;
      const announce = () => {
        saidAt = Date.now();
        saidPercent = 0;
        say(`${title} …`);
      };
      announce();
      return {
        reach(value) {
          const percent = Math.floor((100 * value) / total);
          if (ended || percent === saidPercent || Date.now() - saidAt < pauseBetweenLinesMs) return;
          saidAt = Date.now();
          saidPercent = percent;
          say(`${title}: ${percent} %`);
        },
        next(nextTitle, nextTotal) {
          if (keep) say(`${title}: done`);
          [title, total] = [nextTitle, nextTotal];
          announce();
        },
        end(succeeded) {
          ended = true;
          if (succeeded && keep) say(`${title}: done`);
        },
      };
    },
  };
}
