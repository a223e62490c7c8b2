import type { OpenAPIRouter } from 'openapi-backend';

/** The value of `Allow` for a path of the contract (RFC 9110, section 10.2.1). */
export function allowedMethods(router: OpenAPIRouter, path: string): string {
  const methods = router
    .getOperations()
    .filter(
      (operation) => router.matchOperation({ method: operation.method, path, headers: {} })?.path === operation.path,
    )
    .map((operation) => operation.method.toUpperCase());
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(', ');
}
