import { initial } from './0001-initial.ts';
import { measuredDuration } from './0002-measured-duration.ts';
import { namesAndCharges } from './0004-names-and-charges.ts';
import { search } from './0005-search.ts';
import { retention } from './0006-retention.ts';
import { languagesAndHints } from './0007-languages-and-hints.ts';
import { channels } from './0008-channels.ts';
import { supportLog } from './0010-support-log.ts';
import { chargesByTime } from './0011-charges-by-time.ts';
import { traces } from './0012-traces.ts';
import { audioBytes } from './0013-audio-bytes.ts';
import { freeAttempts } from './0014-free-attempts.ts';
import { indexVersion } from './0015-index-version.ts';
import { warnings } from './0016-warnings.ts';
import { startTags } from './0017-start-tags.ts';
import { audioStore } from './0018-audio-store.ts';
import { room } from './0019-room.ts';
import { foundInTurn } from './0020-found-in-turn.ts';
import { movingStore } from './0021-moving-store.ts';
import type { Migration } from 'kysely/migration';

/** In the order in which they run. Add to the end; never change one that was released. */
export const migrations: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-measured-duration': measuredDuration,
  '0004-names-and-charges': namesAndCharges,
  '0005-search': search,
  '0006-retention': retention,
  '0007-languages-and-hints': languagesAndHints,
  '0008-channels': channels,
  '0010-support-log': supportLog,
  '0011-charges-by-time': chargesByTime,
  '0012-traces': traces,
  '0013-audio-bytes': audioBytes,
  '0014-free-attempts': freeAttempts,
  '0015-index-version': indexVersion,
  '0016-warnings': warnings,
  '0017-start-tags': startTags,
  '0018-audio-store': audioStore,
  '0019-room': room,
  '0020-found-in-turn': foundInTurn,
  '0021-moving-store': movingStore,
};
