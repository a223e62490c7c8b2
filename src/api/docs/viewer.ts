/**
 * The browser bundle of Scalar, which shows the contract.
 *
 * `@scalar/api-reference` has it as a file and brings 299 packages (243 MB) along. Scalar's plugin for Fastify carries the
 * same bundle inside its code, with 18 packages: so its routes are collected here, as Fastify would, and the one that
 * answers the script is asked for it.
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
  // The map is not in the package; developer tools would ask for it in vain.
  return script.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n');
}
