/** Why a server could not be asked. */

/** OpenSSL's and Node's codes for a certificate that has expired, that nobody vouches for, or that is of another server. */
const ofCertificate = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER|VERIFY))/;

/** Whether nothing was asked, because of the server's certificate. */
export const isOfCertificate = (error: unknown): boolean => ofCertificate.test(codeOf(innermost(error)));

/** Whether the audio could not be read to its end while it was sent. */
export const isOfDisk = (error: unknown): boolean => {
  const reason = innermost(error);
  return Error.isError(reason) && reason.name === 'NotReadableError';
};

/** The innermost reason, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
export function reasonOf(error: unknown): string {
  const reason = innermost(error);
  return Error.isError(reason) ? reason.message || codeOf(reason) : String(reason);
}

function innermost(error: unknown): unknown {
  let reason = error;
  while (Error.isError(reason) && Error.isError(reason.cause)) reason = reason.cause;
  return reason;
}

const codeOf = (error: unknown): string => (Error.isError(error) && 'code' in error ? String(error.code) : '');
