import { freePort } from '../../scripts/local-service/service-process.ts';

/** A free port that stays free while the process which uses it is dead. */
export const steadyPort = (): Promise<number> => freePort('127.0.0.1', 0, 'PORT');
