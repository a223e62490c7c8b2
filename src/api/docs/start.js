/**
 * Runs in the browser, before the viewer does: shows the contract. It is a file of its own because the page's policy
 * allows no inline script.
 *
 * What would call Scalar's servers or lead to them is switched off; the policy would stop the calls anyway. The key that
 * is pasted stays in the memory of the page: `persistAuth` would write it to the browser's local storage.
 */
/** A proxy may serve all of it below a path of its own. */
const base = new URL('..', document.currentScript.src).pathname;
const contract = `${base}openapi.json`;

// A library of the viewer (zod) tries out `eval` before it does without; told so, it causes no breach of the policy.
globalThis.__zod_globalConfig = { jitless: true };

const settings = {
  url: contract,
  customFetch: async (input, init) => {
    const response = await fetch(input, init);
    return input === contract && response.ok ? asShown(await response.json()) : response;
  },
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'ApiKey' },

  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',

  // No client by default: the contract's own samples come first then, and curl where there are none.
  documentDownloadType: 'direct',
  defaultOpenAllTags: true,
  modelsSectionLabel: 'Schemas',
};
document.addEventListener('DOMContentLoaded', () => globalThis.Scalar.createApiReference('#contract', settings));

/**
 * The viewer sends every parameter that has an example. Here they are unchecked unless required, since a request with the
 * idempotency key of the example would be accepted only once.
 */
function asShown(description) {
  for (const parameter of Object.values(description.components.parameters)) {
    if (parameter.required || parameter.example === undefined) continue;
    parameter.examples = { example: { value: parameter.example, 'x-disabled': true } };
    delete parameter.example;
  }
  description.servers[0].url = `${base}v1`;
  // They lead to this page.
  delete description.externalDocs;
  return Response.json(description);
}
