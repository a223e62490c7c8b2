/** Types that follow from the contract alone. How handlers use them is in `src/api/handler.ts`. */
import type { components, operations } from './api.ts';

export type { PublicOperation } from './api.ts';
export type OperationId = keyof operations;
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** A body that is JSON text already and is sent unchanged. */
export type JsonText = string & { readonly isJson: true };
export const jsonText = (text: string): JsonText => text as JsonText;

/** The app sets these on every answer that declares them. */
type SetByApp = 'X-Request-Id' | 'X-Content-Type-Options' | 'RateLimit' | 'RateLimit-Policy';

export type Parameters<Id extends OperationId, In extends 'path' | 'query' | 'header'> = NonNullable<
  operations[Id]['parameters'][In]
>;

/** The form that an operation takes as `multipart/form-data`; never, where it takes none. */
export type Form<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'multipart/form-data': infer Fields } };
}
  ? Fields
  : never;

type Responses<Id extends OperationId> = Omit<operations[Id]['responses'], 'default'>;

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

/** What an operation may answer. A wrong body, an undeclared status or an undeclared header does not compile. */
export type Answer<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: { status: Status } & HeadersOf<
    GivenHeaders<DeclaredHeaders<Responses<Id>[Status]>>
  > &
    Body<Responses<Id>[Status]>;
}[keyof Responses<Id>];
