/**
 * The typed door between the app and the handlers: both input and answer have types. A missing handler does not
 * compile.
 */
import type { Answer, Form, OperationId, Parameters, PublicOperation } from '../../codegen/operations.ts';
import type { Context, Principal, UploadedFile } from './api-context.ts';

type LowerCased<Headers> = { [Name in keyof Headers as Lowercase<Name & string>]: Headers[Name] };

export type Input<Id extends OperationId> = {
  path: Parameters<Id, 'path'>;
  /** Checked, coerced and filled with the defaults of the contract. */
  query: Parameters<Id, 'query'>;
  headers: LowerCased<Parameters<Id, 'header'>> & { accept?: string };
  /**
   * Aborts when the client leaves, when the server stops, and with an `ApiError` when the key has lost its right. For an upload,
   * only when the client leaves.
   */
  signal: AbortSignal;
} & (Id extends PublicOperation ? unknown : { principal: Principal }) &
  ([Form<Id>] extends [never] ? unknown : UploadInput<Id>);

interface UploadInput<Id extends OperationId> {
  body: Omit<Form<Id>, 'file'>;
  file: UploadedFile;
  /** The trace to which the session belongs (W3C Trace Context). */
  traceparent: string | undefined;
}

export type Handler<Id extends OperationId> = (input: Input<Id>, ctx: Context) => Promise<Answer<Id>>;
export type Handlers = { [Id in OperationId]: Handler<Id> };
