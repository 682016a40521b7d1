import type { z } from 'zod';
import type { ApiRoute } from './api-route.ts';
import { schemaOf } from './open-api.ts';

/** Nothing is loaded and no script runs: the page is text. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h2{font:600 1.05rem ui-monospace,monospace;margin:2rem 0 .25rem}table{border-collapse:collapse;margin:.5rem 0}
td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd;vertical-align:top}code{font-family:ui-monospace,monospace}
summary{cursor:pointer}pre{overflow:auto;background:#f5f5f5;padding:.75rem}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}td,th{border-color:#444}pre{background:#222}}`;

/** The API's description for people, made of the table that serves it. */
export function browsePage(routes: readonly ApiRoute[]): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Offhook API</title><style>${STYLE}</style></head><body><main><h1>Offhook API</h1>
<p>Every route needs <code>Authorization: Bearer &lt;key&gt;</code>; <code>offhook api-keys create</code> makes keys, and tokens of your
login do where they are configured. What changes something takes an <code>Idempotency-Key</code>.
For programs: <a href="/api/openapi.json">openapi.json</a>.</p>
${routes.map(section).join('\n')}</main></body></html>`;
}

function section({ method, path, summary, scope, params, query, body, form, response, contentType }: ApiRoute): string {
  const answer =
    contentType === undefined
      ? schemaBlock('Answer', response)
      : `<p>Answer: <code>${escaped([contentType].flat().join(', '))}</code></p>`;
  return `<section><h2>${method} /api${escaped(path)}</h2><p>${escaped(summary)}. Scope <code>${scope}</code>.</p>
${parameterTable([...rows(params, 'path'), ...rows(query, 'query')])}${schemaBlock('Body', body)}${schemaBlock('Form, beside its file', form)}${answer}</section>`;
}

interface Row {
  readonly name: string;
  readonly where: string;
  readonly what: string;
}

function rows(schema: z.ZodType, where: string): Row[] {
  const { properties = {} } = schemaOf(schema, 'input') as { properties?: Record<string, unknown> };
  return Object.entries(properties).map(([name, what]) => ({ name, where, what: JSON.stringify(what) }));
}

function parameterTable(list: readonly Row[]): string {
  if (list.length === 0) return '';
  const body = list.map(
    ({ name, where, what }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${where}</td><td><code>${escaped(what)}</code></td></tr>`,
  );
  return `<table><thead><tr><th>parameter</th><th>in</th><th>takes</th></tr></thead><tbody>${body.join('')}</tbody></table>`;
}

function schemaBlock(title: string, schema: z.ZodType | undefined): string {
  if (schema === undefined) return '';
  const text = JSON.stringify(schemaOf(schema, title === 'Answer' ? 'output' : 'input'), null, 2);
  return `<details><summary>${title}</summary><pre>${escaped(text)}</pre></details>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
