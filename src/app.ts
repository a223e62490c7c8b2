/**
 * Where a request goes: express → openapi-backend (route, access, validation) → the typed handler named after its
 * operation → the answer. Everything thrown on the way becomes a problem in one place.
 */
import { randomUUIDv7 } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import addFormats from 'ajv-formats';
import cors from 'cors';
import express from 'express';
import { OpenAPIBackend } from 'openapi-backend';
import { handlers } from '../handlers/index.ts';
import { allowedMethods } from './api/contract/allowed-methods.ts';
import { clientLeft } from './api/connections/client-left.ts';
import { toBackendRequest } from './api/contract/backend-request.ts';
import { useContractRouter } from './api/contract/router.ts';
import { Docs } from './api/docs/docs.ts';
import { ReadingInput } from './api/reads/reading-input.ts';
import { endAnswer } from './api/answers/refusal.ts';
import { Reply } from './api/answers/reply.ts';
import { refuseAmbiguousHead } from './api/connections/request-head.ts';
import { watchResponse } from './api/answers/response-log.ts';
import { refuseLooseIntegers, toInvalidRequest } from './api/contract/validation.ts';
import { ApiError, toApiError } from './api/answers/problem.ts';
import { admitUpload } from './api/uploads/admission.ts';
import { receiveUpload } from './api/uploads/receiving.ts';
import { largestFileBytes } from './api/uploads/size.ts';
import type { Express, Request, Response } from 'express';
import type { Context as Call } from 'openapi-backend';
import type { AnyAnswer } from './api/answers/reply.ts';
import type { Auth } from './api/access/auth.ts';
import type { Context, Principal } from './api/context.ts';
import type { Upload } from './api/uploads/receiving.ts';
import type { UploadsInFlight } from './api/uploads/in-flight.ts';
import type { Scope } from '../db/schema.ts';

const contract = fileURLToPath(new URL('../codegen/openapi.json', import.meta.url));
const apiRoot = '/v1';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Handlers of all operations, as one type: the contract was checked where each of them was written. */
type AnyHandler = (input: object, ctx: Context) => Promise<AnyAnswer>;

/** @param stopping aborts what waits when the server stops */
export async function createApp(
  ctx: Context,
  auth: Auth,
  uploads: UploadsInFlight,
  stopping: AbortSignal,
): Promise<Express> {
  const reply = new Reply(ctx.log, ctx.config.validateResponses);
  const docs = new Docs();

  const operation = (handler: AnyHandler) => async (call: Call, req: Request, res: Response) => {
    const { params: path, query, headers } = call.request;
    const principal = call.security?.ApiKey as Principal | undefined;
    const input = { path, query, headers, principal };
    const answer =
      call.operation.requestBody === undefined
        ? await handler(new ReadingInput(input, stopping, res), ctx)
        : await uploads.run(() =>
            receive(req, res, principal!, (upload) =>
              // What was received whole, a stopping server finishes.
              handler({ ...input, ...upload, signal: clientLeft(res) }, ctx),
            ),
          );
    await reply.answer(req, res, answer);
  };

  /** Receives an upload for `accept`, which takes its file or leaves it to be removed. */
  const receive = async (
    req: Request,
    res: Response,
    principal: Principal,
    accept: (upload: Upload) => Promise<AnyAnswer>,
  ): Promise<AnyAnswer> => {
    const leave = uploads.enter(principal.account_id);
    try {
      const isRepeat = await admitUpload(ctx, principal, req.headers, uploads.of(principal.account_id) - 1);
      // It will be no session.
      if (isRepeat) leave();
      if (req.headers.expect !== undefined) res.writeContinue();
      const hash = req.headers['idempotency-key'] !== undefined;
      const maxBytes = isRepeat ? largestFileBytes : principal.max_upload_bytes;
      const upload = await receiveUpload(req, ctx, { maxBytes, hash, keep: !isRepeat });
      try {
        return await accept(upload);
      } finally {
        // A session by now, or nothing.
        leave();
        if (upload.file.path !== undefined) await ctx.audioStore.removeIncoming(upload.file.path);
      }
    } finally {
      leave();
    }
  };

  const api = new OpenAPIBackend({
    definition: contract,
    apiRoot,
    strict: true,
    ignoreTrailingSlashes: false,
    coerceTypes: true,
    ajvOpts: { useDefaults: true, allErrors: true, validateSchema: false, meta: false },
    customizeAjv: (ajv) => addFormats.default(ajv).addFormat('uuid', uuid),
    securityHandlers: {
      ApiKey: (call: Call, req: Request, res: Response) => auth.admit(req, res, scopeOf(call)),
    },
    handlers: {
      ...Object.fromEntries(Object.entries(handlers).map(([id, handler]) => [id, operation(handler as AnyHandler)])),
      postRoutingHandler: (call: Call, _req: Request, res: Response) => {
        res.locals.operation = call.operation?.operationId;
      },
      unauthorizedHandler: (call: Call) => {
        throw (call.security?.ApiKey as { error: unknown }).error;
      },
      validationFail: (call: Call, _req: Request, res: Response) => {
        throw toInvalidRequest(call.validation.errors ?? [], res.locals.query);
      },
      preOperationHandler: (call: Call, _req: Request, res: Response) => {
        refuseLooseIntegers(call.operation.parameters ?? [], res.locals.query);
      },
      notFound: () => {
        throw new ApiError(404, 'route_not_found', 'There is nothing at this path.');
      },
      methodNotAllowed: (call: Call) => {
        const allow = allowedMethods(call.api.router, call.request.path);
        throw new ApiError(405, 'method_not_allowed', `This path allows ${allow}.`, {}, { Allow: allow });
      },
      notImplemented: (call: Call) => {
        throw new Error(`no handler for ${call.operation.operationId}`);
      },
    },
  });
  await api.init();
  useContractRouter(api, apiRoot);

  const app = express();
  app.set('trust proxy', ctx.config.trustProxy);
  app.set('query parser', false);
  app.set('etag', false);
  app.disable('x-powered-by');
  const isPreflight = (req: Request) => req.method === 'OPTIONS' && ctx.config.corsOrigins.length > 0;

  app.use((req, res, next) => {
    res.locals.requestId = randomUUIDv7();
    res.setHeader('X-Request-Id', res.locals.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    watchResponse(req, res, ctx);
    next();
  });
  if (ctx.config.corsOrigins.length > 0) {
    const methods = ['GET', 'HEAD', 'POST'];
    const answered = { preflightContinue: true, maxAge: 600 };
    app.use(cors({ origin: ctx.config.corsOrigins, methods, allowedHeaders, exposedHeaders, ...answered }));
  }
  // No routes of express: it would answer a path that it can't decode itself, with a page of its own.
  app.use(async (req, res) => {
    try {
      refuseAmbiguousHead(req);
      // Here and not by cors, which would read a body without end.
      if (isPreflight(req)) return endAnswer(req, res.status(204));
      if (stopping.aborted)
        throw new ApiError(503, 'unavailable', 'The service is restarting.', { retryAfterSeconds: 5 });
      if (docs.serves(req.path)) return await docs.answer(req, res);
      const request = toBackendRequest(req);
      res.locals.query = request.query;
      await api.handleRequest(request, req, res);
    } catch (error) {
      const problem = toApiError(error);
      const isExpected = error instanceof ApiError && res.closed;
      if (problem.status >= 500 && !isExpected)
        ctx.log.error({ err: error, requestId: res.locals.requestId }, 'request failed');
      await reply.problem(req, res, problem);
    }
  });
  return app;
}

/** Without a list, cors would send back whatever was asked for. */
const allowedHeaders = ['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'];
const exposedHeaders = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Location',
  'ETag',
  'Idempotency-Replayed',
  'WWW-Authenticate',
];

function scopeOf(call: Call): Scope {
  return (call.operation as { 'x-required-scope'?: Scope })['x-required-scope']!;
}
