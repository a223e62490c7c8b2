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
