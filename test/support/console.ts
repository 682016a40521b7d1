import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { SignInLinks } from '../../src/http/session/console-key.ts';
import type { Role } from '../../src/http/session/session-views.ts';
import { HANGS_MS } from './patience.ts';
import { requireTool } from './requires.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** `undefined` where the tests of pages are to be skipped. */
export const chromiumProgram = requireTool('chromium');
/** Where pictures of pages go, when somebody wants to look at them. */
const PICTURES = process.env['OFFHOOK_TEST_PICTURES'];
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };

export interface ConsoleBrowserOptions {
  /** More switches of Chromium: a fake microphone, for example. */
  readonly args?: readonly string[];
}

/** A gateway that pages are looked at on. */
export interface ConsoleTarget {
  readonly url: string;
  readonly dataDir: string;
}

export interface ConsoleBrowser extends AsyncDisposable {
  readonly browser: Browser;
  /** Opens a page of the console as somebody with this role, in a browser profile of its own. @param path below `/console` */
  open(target: ConsoleTarget, role: Role, path?: string, options?: BrowserContextOptions): Promise<ConsolePage>;
}

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** What the page complained about so far: errors of scripts, what its policy blocked, what failed to load. */
  readonly complaints: readonly string[];
  /** Addresses that were asked for beside the gateway's own. */
  readonly foreign: readonly string[];
  /**
   * Looks at the page as it is, in light and dark, on a desk and on a phone: no violation of accessibility, nothing wider than the
   * screen. Writes `<name>-<theme>.png` where `OFFHOOK_TEST_PICTURES` names a folder.
   */
  lookOver(name: string): Promise<void>;
}

/** The browser that all files of a process use in turn, each page in a profile of its own: to start one costs as much as a short file. */
let kept: Promise<Browser> | undefined;

function launch(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumProgram ?? '',
    args: ['--autoplay-policy=no-user-gesture-required', ...args],
    // It ends with the process, whose own signals are the test runner's.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

/** Opens Chromium over the page as it is built; builds it first where its sources are newer. A browser with switches of its own is closed by its file. */
export async function startConsoleBrowser({ args }: ConsoleBrowserOptions = {}): Promise<ConsoleBrowser> {
  await buildConsole();
  const isKept = args === undefined;
  const browser = await (isKept ? (kept ??= launch()) : launch(args));
  return {
    browser,
    async open(target, role, path = '/', options = {}) {
      const context = await browser.newContext({ viewport: DESK, locale: 'en-GB', timezoneId: 'Europe/London', ...options });
      context.setDefaultTimeout(HANGS_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      const foreign: string[] = [];
      page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol.startsWith('http') && origin !== target.url) foreign.push(request.url());
      });
      const code = new SignInLinks(target.dataDir).make({ name: role, role }, Date.now());
      const signedIn = await context.request.post(`${target.url}/api/session/link`, { data: { code } });
      if (!signedIn.ok()) throw new Error(`nobody was signed in: ${await signedIn.text()}`);
      await page.goto(`${target.url}/console${path}`);
      await page.getByRole('navigation').waitFor({ state: 'attached' });
      return {
        page,
        complaints,
        foreign,
        lookOver: (name) => lookOver(page, name),
        [Symbol.asyncDispose]: () => context.close(),
      };
    },
    async [Symbol.asyncDispose]() {
      if (!isKept) return browser.close();
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
  };
}

/** Run in the page: until no colour is on its way to another. */
const COLOURS_SETTLED = `new Promise(requestAnimationFrame).then(() =>
  Promise.allSettled(document.getAnimations().flatMap((each) => (each instanceof CSSTransition ? [each.finished] : []))))`;

/** All that a theme can change: the elements are the same in both. */
const RULES_OF_COLOUR = ['color-contrast', 'link-in-text-block'];

async function lookOver(page: Page, name: string): Promise<void> {
  const violations: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // The page learns of it in an event of its own.
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    await page.evaluate(COLOURS_SETTLED);
    const rules = colorScheme === 'dark' ? RULES_OF_COLOUR : undefined;
    violations.push(...(await axeViolations(page, rules)).map((each) => `${colorScheme}: ${each}`));
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`) });
  }
  const before = page.viewportSize() ?? DESK;
  await page.setViewportSize(PHONE);
  // What measures itself draws once more.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}-phone.png`) });
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(violations).toEqual([]);
  expect(overflow, 'wider than a phone, in px').toBeLessThanOrEqual(0);
}

const axeSource = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with the page as it is: a rule and where, each. @param rules all of them when absent */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axeSource());
  return page.evaluate(async (only) => {
    type Axe = {
      run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
    };
    const options = { resultTypes: ['violations'], ...(only === undefined ? {} : { runOnly: only }) };
    const { violations } = await (Reflect.get(globalThis, 'axe') as Axe).run(options);
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
  }, rules);
}

/** Builds the page where its sources are newer than what was built. */
export async function buildConsole(): Promise<void> {
  const built = statSync(join(root, 'dist/console/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built >= newest(join(root, 'src/console'))) return;
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  await promisify(execFile)(process.execPath, [vite, 'build', '--config', 'src/console/vite.config.ts', '--logLevel', 'warn'], {
    cwd: root,
    // The test runner's own mode would put React's development build into the page.
    env: { ...process.env, NODE_ENV: 'production' },
  });
}

function newest(folder: string): number {
  const times = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)).mtimeMs);
  return Math.max(...times);
}
