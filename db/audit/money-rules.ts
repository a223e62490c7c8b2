/** What must hold of balances, reservations and charges. Charges of erased sessions stay, so a charge needs no session. */
import { sql } from 'kysely';
import { byAccount, byCharge, bySession } from './parts.ts';
import { hasSpeech, isFinal, isUnfinished } from './rule.ts';
import type { Rule } from './rule.ts';

/** A session `s` with its transcript `t`. */
const withTranscript = sql.raw('sessions s join transcripts t on t.account_id = s.account_id and t.session_id = s.id');
/** A session `s` with a charge `l`. */
const withCharge = sql.raw(
  `sessions s join ledger l on l.account_id = s.account_id and l.session_id = s.id and l.kind = 'charge'`,
);

export const moneyRules: Rule[] = [
  {
    id: 'balance_is_ledger',
    rule: 'An account has the balance that its ledger adds up to',
    cut: byAccount,
    looksAt: sql`accounts`,
    broken: sql`select a.id from accounts a
      left join (select account_id, sum(amount_ms) as total from ledger group by account_id) l on l.account_id = a.id
      where a.balance_ms <> coalesce(l.total, 0)`,
  },
  {
    id: 'reserved_is_running',
    rule: 'An account reserves what its queued and processing sessions do',
    cut: byAccount,
    looksAt: sql`accounts`,
    broken: sql`select a.id from accounts a
      left join (select account_id, sum(reserved_ms) as total from sessions where ${isUnfinished} group by account_id) s
        on s.account_id = a.id
      where a.reserved_ms <> coalesce(s.total, 0)`,
  },
  {
    id: 'final_reserves_nothing',
    rule: 'A completed or failed session reserves nothing',
    cut: bySession,
    looksAt: sql`sessions where ${isFinal}`,
    broken: sql`select id from sessions where ${isFinal} and reserved_ms <> 0`,
  },
  {
    id: 'speech_is_charged_once',
    rule: 'A completed session with speech is charged exactly once',
    cut: bySession,
    looksAt: sql`${withTranscript} where s.status = 'completed' and ${hasSpeech}`,
    broken: sql`select s.id from ${withTranscript}
      left join (select account_id, session_id, count(*) as charges from ledger where kind = 'charge' group by 1, 2) l
        on l.account_id = s.account_id and l.session_id = s.id
      where s.status = 'completed' and ${hasSpeech} and coalesce(l.charges, 0) <> 1`,
  },
  {
    id: 'charge_is_duration',
    rule: 'A charge is the duration of its session',
    cut: bySession,
    looksAt: sql`${withCharge} where s.status = 'completed'`,
    broken: sql`select distinct s.id from ${withCharge}
      where s.status = 'completed' and l.amount_ms <> -s.duration_ms::bigint`,
  },
  {
    id: 'silence_is_free',
    rule: 'A completed session in which nothing was said is not charged',
    cut: bySession,
    looksAt: sql`${withTranscript} where s.status = 'completed' and not ${hasSpeech}`,
    broken: sql`select distinct s.id from ${withCharge}
      join transcripts t on t.account_id = s.account_id and t.session_id = s.id
      where s.status = 'completed' and not ${hasSpeech}`,
  },
  {
    id: 'failed_is_free',
    rule: 'A failed session is not charged',
    cut: bySession,
    looksAt: sql`sessions where status = 'failed'`,
    broken: sql`select distinct s.id from ${withCharge} where s.status = 'failed'`,
  },
  {
    id: 'unfinished_is_free',
    rule: 'A queued or processing session is not charged yet',
    cut: bySession,
    looksAt: sql`sessions where ${isUnfinished}`,
    broken: sql`select distinct s.id from ${withCharge} where s.${isUnfinished}`,
  },
  {
    id: 'charge_is_of_own_session',
    rule: 'A charge is for a session of its own account',
    cut: byCharge,
    looksAt: sql`ledger where kind = 'charge'`,
    broken: sql`select l.id from ledger l join sessions s on s.id = l.session_id
      where l.kind = 'charge' and s.account_id <> l.account_id`,
  },
];
