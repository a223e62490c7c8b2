/**
 * The browser bundle of Scalar, which shows the contract.
 *
 * `@scalar/api-reference` has it as a file, but brings 299 packages (243 MB). Scalar's plugin for Fastify has the same
 * bundle in its code and needs 18 packages. So the plugin's routes are collected here, as Fastify would do it, and the
 * route of the script is asked for the bundle.
 */

interface Route {
  url: string;
  handler(request: object, reply: Reply): unknown;
}

interface Reply {
  header(name: string, value: string): Reply;
  send(body: string): void;
}

interface Collector {
  hasPlugin(name: string): boolean;
  route(route: Route): void;
}

type Plugin = (server: Collector, options: object, done: () => void) => void;

/** Megabytes of JavaScript, loaded when somebody first opens the page. */
export async function loadViewer(): Promise<string> {
  const { default: plugin } = (await import('@scalar/fastify-api-reference')) as unknown as { default: Plugin };
  const routes: Route[] = [];
  const collector: Collector = { hasPlugin: () => false, route: (route) => void routes.push(route) };
  plugin(collector, { configuration: { url: '/openapi.json' } }, () => undefined);

  let script: string | undefined;
  const reply: Reply = { header: () => reply, send: (body) => void (script = body) };
  routes.find(({ url }) => url.endsWith('.js'))?.handler({}, reply);
  if (script === undefined) throw new Error('@scalar/fastify-api-reference has no route for its browser bundle');
  // The package has no source map, so developer tools must not ask for it.
  return script.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n');
}
