/** Another attempt has the session, or it is final: nothing of this one may be stored. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}
