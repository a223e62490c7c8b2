/**
 * Where a request goes: express → openapi-backend (route, access, validation) → the typed handler named after its
 * operation → the answer. Everything thrown on the way becomes a problem in one place.
 */
import { randomUUIDv7 } from 'node:crypto';
import express from 'express';
import { handlers } from '../handlers/index.ts';
import { sendAnswer, sendProblem } from './api/answers/reply.ts';
import { endAnswer } from './api/answers/refusal.ts';
import { ApiError, toApiError, unavailable } from './api/answers/problem.ts';
import { watchResponse } from './api/answers/response-log.ts';
import { refusalBy } from './api/access/auth.ts';
import { clientDisconnected } from './api/connections/client-disconnected.ts';
import { refuseAmbiguousHead } from './api/connections/request-head.ts';
import {
  allowedMethods,
  loadBackend,
  requiredScope,
  toBackendRequest,
  withoutNeedlessEncoding,
  routeMeantBy,
} from './api/contract/backend.ts';
import { refuseLooseIntegers, toInvalidRequest } from './api/contract/validation.ts';
import { allowOrigins } from './api/cors.ts';
import { Docs, loadFiles } from './api/docs/docs.ts';
import { takeUpload } from './api/uploads/upload.ts';
import { idsOf, traceparentOf } from './tracing/tracing.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Context as Call } from 'openapi-backend';
import type { Auth } from './api/access/auth.ts';
import type { AnyAnswer } from './api/answers/reply.ts';
import type { Context, Principal } from './api/handler.ts';
import type { Response } from './api/response.ts';
import type { UploadsInFlight } from './api/uploads/upload.ts';

/** Handlers of all operations, as one type: the contract was checked where each of them was written. */
type AnyHandler = (input: object, ctx: Context) => Promise<AnyAnswer>;

/** @param stopping aborts what waits when the server stops */
export async function createApp(
  ctx: Context,
  auth: Auth,
  uploads: UploadsInFlight,
  stopping: AbortSignal,
): Promise<RequestListener> {
  const { config, log } = ctx;
  const docs = new Docs(() => loadFiles(config.publicPath));
  const app = express();
  app.set('trust proxy', config.trustProxy);
  app.set('query parser', false);
  app.set('etag', false);
  app.disable('x-powered-by');

  const begin = (req: Request, res: Response) => {
    res.locals.requestId = randomUUIDv7();
    res.setHeader('X-Request-Id', res.locals.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    watchResponse(req, res, ctx);
  };
  const refuse = async (req: Request, res: Response, fault: unknown) => {
    const error = (await refusalBy(res.locals.counted)) ?? fault;
    const problem = toApiError(error);
    const isExpected = error instanceof ApiError && res.closed;
    // 505 is about the request.
    if (problem.status >= 500 && problem.status !== 505 && !isExpected)
      log.error({ err: error, requestId: res.locals.requestId, ...idsOf(res.locals.span) }, 'request failed');
    await sendProblem(req, res, problem);
  };

  app.use((req: Request, res: Response, next: () => void) => {
    begin(req, res);
    next();
  });
  const isCors = config.corsOrigins.length > 0;
  if (isCors) app.use(allowOrigins(config.corsOrigins));

  // No routes of express: it would answer a path that it can't decode itself, with a page of its own.
  app.use(async (req: Request, res: Response) => {
    try {
      refuseAmbiguousHead(req);
      req.url = withoutNeedlessEncoding(req.url);
      if (isCors && req.method === 'OPTIONS') return endAnswer(req, res.status(204));
      if (stopping.aborted) throw unavailable('The service is restarting.');
      if (docs.serves(req.path)) return await docs.answer(req, res);
      const request = toBackendRequest(req);
      res.locals.query = request.query;
      await backend.handleRequest(request, req, res);
    } catch (fault) {
      await refuse(req, res, fault);
    }
  });

  const operation = (handler: AnyHandler) => async (call: Call, req: Request, res: Response) => {
    const { params: path, query, headers } = call.request;
    const principal = call.security?.ApiKey as Principal | undefined;
    if (path?.['id'] !== undefined) res.locals.sessionId = String(path['id']).toLowerCase();
    const input = { path, query, headers, principal };
    const { counted } = res.locals;
    // Only what changes nothing begins before the request has been counted.
    if (call.operation.method !== 'get') await counted;
    // Made where it is needed, because few requests wait for anything.
    const held = onlyOnce(() => {
      const left = clientDisconnected(res);
      return AbortSignal.any([stopping, left, auth.whileAllowed(req, requiredScope(call), left)]);
    });
    const answering =
      call.operation.requestBody === undefined
        ? handler({ ...input, held }, ctx)
        : takeUpload(ctx, uploads, { req, res, principal: principal! }, (upload) =>
            // What was received whole, a stopping server finishes. The worker goes on with the trace.
            handler(
              { ...input, ...upload, traceparent: traceparentOf(res.locals.span), signal: clientDisconnected(res) },
              ctx,
            ),
          );
    const [answer] = await Promise.all([answering, counted]);
    if (answer.status === 202) res.locals.sessionId = (answer.body as { sessionId: string }).sessionId;
    await sendAnswer(req, res, answer);
  };

  // In the order in which openapi-backend calls them; access comes before validation.
  const backend = await loadBackend({
    handlers: {
      postRoutingHandler: (call: Call, _req: Request, res: Response) => {
        res.locals.operation = call.operation?.operationId;
      },
      notFound: (call: Call) => {
        const meant = routeMeantBy(call.api.router, call.request.path);
        const hint = meant === undefined ? '' : ` Is ${meant} meant?`;
        throw new ApiError(404, 'route_not_found', `There is nothing at this path.${hint}`);
      },
      methodNotAllowed: (call: Call) => {
        const allow = allowedMethods(call.api.router, call.request.path);
        throw new ApiError(405, 'method_not_allowed', `This path allows ${allow}.`, {}, { Allow: allow });
      },
      unauthorizedHandler: (call: Call) => {
        throw (call.security?.ApiKey as { error: unknown }).error;
      },
      validationFail: (call: Call, _req: Request, res: Response) => {
        throw toInvalidRequest(call.validation.errors ?? [], res.locals.query!);
      },
      preOperationHandler: (call: Call, _req: Request, res: Response) => {
        refuseLooseIntegers(call.operation.parameters ?? [], res.locals.query!);
      },
      notImplemented: (call: Call) => {
        throw new Error(`no handler for ${call.operation.operationId}`);
      },
      ...Object.fromEntries(Object.entries(handlers).map(([id, handler]) => [id, operation(handler as AnyHandler)])),
    },
    securityHandlers: {
      ApiKey: (call: Call, req: Request, res: Response) => auth.admit(req, res, requiredScope(call)),
    },
  });
  /** Express gives back what it can't route, which is a target that it can't read, and faults of our own. */
  const giveBack = (req: Request, res: Response, fault: unknown) => {
    if (fault !== undefined) {
      log.error({ err: fault, requestId: res.locals.requestId }, 'request was not answered');
      return res.destroy();
    }
    // Whoever logs or answers it reads the target once more.
    req.url = '/';
    begin(req, res);
    return refuse(req, res, new ApiError(400, 'invalid_request', 'The target of the request is no address.'));
  };
  return (req: IncomingMessage, res: ServerResponse) =>
    app(req as Request, res as Response, (fault) => void giveBack(req as Request, res as Response, fault));
}

function onlyOnce<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
