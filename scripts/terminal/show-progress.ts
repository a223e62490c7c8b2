import { MultiBar } from 'cli-progress';
import { cutToWidth } from './text.ts';
import type { Options, Params } from 'cli-progress';
import type { Screen } from './terminal.ts';

/** What a person sees while work goes on. */
export interface Progress {
  say(this: void, line: string): void;
  /** Several steps may go on at once. */
  begin(this: void, title: string, total: number): Step;
}

export interface Step {
  /** @param value what is done so far, of the step's total; ignored after the end */
  reach(value: number): void;
  /** What was done so far succeeded, and something else begins in its place. */
  next(title: string, total: number): void;
  end(succeeded: boolean): void;
}

/**
 * Bars on a terminal; plain lines in a file, a pipe or a CI log.
 * @param options.keep whether a bar stays when its step has ended; otherwise the caller says what came
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

const barWidth = 20;
/** A line that is wider than the window takes rows in which other bars stand; these are drawn anew below it. */
const clearBelow = '\x1b[J';

/**
 * A bar for each step that goes on. Lines are written above the bars. Nothing of the terminal is changed that would have
 * to be put back, so that even SIGKILL leaves it as it was.
 * @param keep whether a bar stays when its step has ended
 */
function showBarsOn(stream: Screen, keep: boolean): Progress {
  let bars: MultiBar | undefined;
  let going = 0;

  function end(): void {
    // Lines that wait to be written are not written by `stop`.
    bars?.update();
    bars?.stop();
    bars = undefined;
  }

  return {
    say(line) {
      if (bars === undefined) stream.write(`${line}\n`);
      else bars.log(`${clearBelow}${line}\n`);
    },
    begin(title, total): Step {
      bars ??= new MultiBar({
        ...{ stream, format, fps: 10, clearOnComplete: !keep, hideCursor: false, linewrap: true },
        // Otherwise a bar that did not change would be missing below a line that was written in its place.
        forceRedraw: true,
      });
      const bar = bars.create(total, 0, { title });
      let isGoing = true;
      going += 1;
      return {
        reach: (value) => isGoing && bar.update(value),
        next(nextTitle, nextTotal) {
          bar.setTotal(nextTotal);
          bar.update(0, { title: nextTitle });
        },
        end(succeeded) {
          if (!isGoing) return;
          isGoing = false;
          going -= 1;
          if (succeeded) bar.update(bar.getTotal());
          if (going === 0) end();
          else if (!keep) bars?.remove(bar);
        },
      };
    },
  };
}

/** The time shows that a step lives that makes no progress. The title comes last, because a narrow terminal cuts it off. */
function format(_: Options, { progress, startTime, maxWidth }: Params, { title }: { title: string }): string {
  const done = Math.round(progress * barWidth);
  const percent = String(Math.floor(progress * 100)).padStart(3);
  const bar = `${'█'.repeat(done)}${'░'.repeat(barWidth - done)}`;
  return cutToWidth(`${bar} ${percent} %  ${minutes(Date.now() - startTime)}  ${title}`, maxWidth - 1);
}

/** m:ss, also beyond an hour. */
function minutes(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
