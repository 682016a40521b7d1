/**
 * Where an endpoint of a service is, as the documents write it: `{asr_url}/v1/…`. A path in the service's address stays in
 * front, and a query behind.
 * @param path of the endpoint, from its slash on
 */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  // Never sent over HTTP, and refused by sockets.
  url.hash = '';
  return url;
}
