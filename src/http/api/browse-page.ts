/** The page is text: nothing is loaded and no script runs. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h2{font:600 1.05rem ui-monospace,monospace;margin:2rem 0 .25rem}table{border-collapse:collapse;margin:.5rem 0}
td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd;vertical-align:top}code{font-family:ui-monospace,monospace}
summary{cursor:pointer}pre{overflow:auto;background:#f5f5f5;padding:.75rem}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}td,th{border-color:#444}pre{background:#222}}`;

type Content = Readonly<Record<string, { readonly schema?: object }>>;

/** The part of an OpenAPI operation that the page shows. */
interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: object }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The API's description for people, made from its OpenAPI document. */
export function browsePage({ paths = {} }: { readonly paths?: Readonly<Record<string, object | undefined>> }): string {
  const sections = Object.entries(paths).flatMap(([path, methods = {}]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) => section(method, path, operation)),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Offhook API</title><style>${STYLE}</style></head><body><main><h1>Offhook API</h1>
<p>Every route needs <code>Authorization: Bearer &lt;key&gt;</code>; <code>offhook api-keys create</code> makes keys, and tokens of your
login do where they are configured. What changes something takes an <code>Idempotency-Key</code>.
For programs: <a href="/api/openapi.json">openapi.json</a>.</p>
${sections.join('\n')}</main></body></html>`;
}

function section(method: string, path: string, { summary, description, parameters, requestBody, responses }: Operation): string {
  const [answer] = Object.values(responses);
  return `<section><h2>${method.toUpperCase()} /api${escaped(path.replaceAll(/\{(\w+)\}/gu, ':$1'))}</h2>
<p>${escaped(`${summary}. ${description}`).replaceAll(/`([^`]+)`/gu, '<code>$1</code>')}</p>
${parameterTable(parameters)}${contentBlocks('Body', requestBody?.content)}${contentBlocks('Answer', answer?.content)}</section>`;
}

function parameterTable(list: Operation['parameters'] = []): string {
  if (list.length === 0) return '';
  const body = list.map(
    ({ name, in: where, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${where}</td><td><code>${escaped(JSON.stringify(schema))}</code></td></tr>`,
  );
  return `<table><thead><tr><th>parameter</th><th>in</th><th>takes</th></tr></thead><tbody>${body.join('')}</tbody></table>`;
}

function contentBlocks(title: string, content: Content = {}): string {
  const blocks = Object.entries(content).map(([type, { schema = {} }]) => {
    const name = `${title}: ${escaped(type)}`;
    if (Object.keys(schema).length === 0) return `<p>${name}</p>`;
    return `<details><summary>${name}</summary><pre>${escaped(JSON.stringify(schema, null, 1))}</pre></details>`;
  });
  return blocks.join('');
}

/** For element text, not for attributes. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
