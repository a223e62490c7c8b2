/**
 * The types that tie handlers to the contract. A missing handler, a body that does not match, an undeclared status and an
 * undeclared header do not compile.
 */
import type { components, operations } from './api.ts';
import type { Context, Principal, UploadedFile } from '../src/context.ts';

export type OperationId = keyof operations;
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** A body that is JSON text already, and is sent as it is. */
export type JsonText = string & { readonly isJson: true };
export const jsonText = (text: string): JsonText => text as JsonText;

type PublicOperation = 'getOpenApi';
type UploadOperation = 'createTranscription';
/** The app sets these on every answer that declares them. */
type SetByApp = 'X-Request-Id' | 'RateLimit' | 'RateLimit-Policy';

type Parameters<Id extends OperationId, In extends 'path' | 'query' | 'header'> = NonNullable<
  operations[Id]['parameters'][In]
>;

type LowerCased<Headers> = { [Name in keyof Headers as Lowercase<Name & string>]: Headers[Name] };

export type Input<Id extends OperationId> = {
  path: Parameters<Id, 'path'>;
  /** Checked, coerced and filled with the defaults of the contract. */
  query: Parameters<Id, 'query'>;
  headers: LowerCased<Parameters<Id, 'header'>> & { accept?: string };
  /** Aborts when the client leaves; unless it is an upload, also when the server stops. */
  signal: AbortSignal;
} & (Id extends PublicOperation ? unknown : { principal: Principal }) &
  (Id extends UploadOperation ? { body: Omit<Schema<'TranscriptionRequest'>, 'file'>; file: UploadedFile } : unknown);

type Responses<Id extends OperationId> = operations[Id]['responses'];

type DeclaredHeaders<Response> = Response extends { headers: infer Headers }
  ? { [Name in keyof Headers as string extends Name ? never : Name extends SetByApp ? never : Name]: Headers[Name] }
  : object;

/** `Cache-Control` has a default (`no-store`); every other required header must be given. */
type GivenHeaders<Headers> = Omit<Headers, 'Cache-Control'> &
  Partial<Pick<Headers, Extract<keyof Headers, 'Cache-Control'>>>;

type Body<Response> = Response extends { content: infer Content }
  ? [NonNullable<Content>] extends [never]
    ? { body?: undefined }
    : {
        [Type in keyof Content]: Type extends 'application/json'
          ? { contentType?: Type; body: Content[Type] | JsonText }
          : { contentType: Type; body: Content[Type] };
      }[keyof Content]
  : { body?: undefined };

type HeadersOf<Headers> = object extends Headers ? { headers?: Headers } : { headers: Headers };

export type Answer<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: { status: Status } & HeadersOf<
    GivenHeaders<DeclaredHeaders<Responses<Id>[Status]>>
  > &
    Body<Responses<Id>[Status]>;
}[keyof Responses<Id>];

export type Handler<Id extends OperationId> = (input: Input<Id>, ctx: Context) => Promise<Answer<Id>>;
export type Handlers = { [Id in OperationId]: Handler<Id> };
