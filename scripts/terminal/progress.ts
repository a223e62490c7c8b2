import { SingleBar } from 'cli-progress';

/** What a person sees while work goes on. */
export interface Progress {
  say(this: void, line: string): void;
  /** One step at a time. */
  begin(title: string, total: number): Step;
}

export interface Step {
  /** @param value what is done so far, of the step's total; ignored after the end */
  reach(value: number): void;
  end(succeeded: boolean): void;
}

/** Bars on a terminal; plain lines in a file, a pipe or a CI log. */
export function showProgressOn(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? bars(stream) : lines(stream);
}

function bars(stream: NodeJS.WriteStream): Progress {
  let bar: SingleBar | undefined;
  return {
    say(line) {
      if (bar?.isActive) stream.write('\n');
      stream.write(`${line}\n`);
    },
    begin(title, total) {
      // The title comes last, because a narrow terminal cuts it off.
      const format = `{bar} {percentage} %  ${title}`;
      const look = { barCompleteChar: '█', barIncompleteChar: '░', barsize: 30 };
      const current = new SingleBar({ stream, format, fps: 20, hideCursor: false, ...look });
      bar = current;
      current.start(total, 0);
      return {
        reach: (value) => current.isActive && current.update(value),
        end(succeeded) {
          if (succeeded) current.update(total);
          current.stop();
        },
      };
    },
  };
}

const pauseBetweenLinesMs = 3_000;

function lines(stream: NodeJS.WritableStream): Progress {
  const say = (line: string) => void stream.write(`${line}\n`);
  return {
    say,
    begin(title, total) {
      let saidAt = Date.now();
      let ended = false;
      say(`${title} …`);
      return {
        reach(value) {
          if (ended || Date.now() - saidAt < pauseBetweenLinesMs) return;
          saidAt = Date.now();
          say(`${title}: ${Math.floor((100 * value) / total)} %`);
        },
        end(succeeded) {
          ended = true;
          if (succeeded) say(`${title}: done`);
        },
      };
    },
  };
}
