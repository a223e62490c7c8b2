import { makeRecordings } from './recordings.ts';
import type { Recognizer } from '../../../../src/recognizers/recognizer.ts';
import type { Recordings } from './recordings.ts';

export interface Parts {
  recordings: Recordings;
  recognizer: Recognizer;
}

/** What the tests of this `describe` work with: made before the first of them, closed after the last. */
export function partsFor(make: () => Recognizer): Parts {
  const parts = {} as Parts;
  beforeAll(async () => {
    parts.recordings = makeRecordings();
    parts.recognizer = make();
  });
  afterAll(async () => {
    await parts.recognizer.close();
    parts.recordings.remove();
  });
  return parts;
}
