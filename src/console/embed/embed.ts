import { BrowserCall, type CallEnd } from '../audio/browser-call.ts';
import { MicrophoneError, type MicrophoneProblem } from '../audio/microphone.ts';

/*
 * `GET /embed.js`: a button for a customer's page, whose visitors talk to a bot of the gateway that serves this script (docs/carriers/browser.md). In
 * a shadow tree with its own style sheet, so that page and button do not affect each other and no inline style needs a policy.
 */

/** Of the button on a customer's page; the page changes the colour by `--offhook-color` on any element around it. */
const STYLE = `
:host { all: initial; }
.panel { --caller: 0; --bot: 0; display: grid; gap: 8px; width: 220px; font: 15px/1.4 system-ui, sans-serif; color: #1b2126; }
.corner {
  position: fixed; right: 20px; bottom: 20px; z-index: 2147483000; padding: 12px; border-radius: 14px;
  background: #fff; box-shadow: 0 6px 24px rgb(0 0 0 / 18%);
}
.call {
  font: inherit; font-weight: 600; padding: 11px 16px; border: 0; border-radius: 10px; cursor: pointer; color: #fff;
  background: var(--offhook-color, #0b7267);
  box-shadow: inset 0 -3px 0 rgb(255 255 255 / calc(var(--bot) * 0.9)), 0 0 0 calc(var(--caller) * 7px) rgb(11 114 103 / 30%);
}
[data-state='live'] .call { background: #b3261e; }
.call:disabled { opacity: 0.75; cursor: default; }
.call:focus-visible, .keys button:focus-visible { outline: 3px solid #6fc9bd; outline-offset: 2px; }
.keys { display: grid; grid-template-columns: repeat(3, 1fr); gap: 5px; }
.keys[hidden] { display: none; }
.keys button { font: inherit; padding: 7px 0; border: 1px solid #c6ccd1; border-radius: 8px; background: #f6f8f9; color: inherit; cursor: pointer; }
p { margin: 0; }
.status:empty { display: none; }
.notice { font-size: 12px; color: #545d69; }
@media (prefers-color-scheme: dark) {
  .corner { background: #1d2329; }
  .corner, .corner .notice { color: #dfe5ea; }
  .corner .keys button { background: #2a3138; border-color: #48525b; }
}
`;

const TEXTS = {
  en: {
    call: 'Talk to us',
    calling: 'Calling…',
    hangUp: 'Hang up',
    notice: 'The conversation is recorded.',
    keys: 'Keys',
    denied: 'Please allow the microphone for this site, then try again.',
    missing: 'No microphone was found.',
    busy: 'Another program uses the microphone.',
    insecure: 'The microphone works only on https pages.',
    failed: 'This did not work. Please try again in a moment.',
    busyHere: 'Nobody can take the call right now. Please try again in a moment.',
    ended: 'The call is over.',
    lost: 'The connection was lost.',
  },
  hi: {
    call: 'हमसे बात करें',
    calling: 'कॉल हो रही है…',
    hangUp: 'कॉल काटें',
    notice: 'बातचीत रिकॉर्ड की जाती है।',
    keys: 'कुंजियाँ',
    denied: 'कृपया इस साइट को माइक्रोफ़ोन की अनुमति दें, फिर कोशिश करें।',
    missing: 'कोई माइक्रोफ़ोन नहीं मिला।',
    busy: 'माइक्रोफ़ोन किसी दूसरे प्रोग्राम के पास है।',
    insecure: 'माइक्रोफ़ोन केवल https पृष्ठों पर चलता है।',
    failed: 'यह नहीं हो सका। कृपया थोड़ी देर बाद कोशिश करें।',
    busyHere: 'अभी कोई कॉल नहीं ले सकता। कृपया थोड़ी देर बाद कोशिश करें।',
    ended: 'कॉल समाप्त हुई।',
    lost: 'कनेक्शन टूट गया।',
  },
} as const;
type Text = keyof typeof TEXTS.en;

const KEYS = '123456789*0#';

/** The gateway takes no call now. */
class Busy extends Error {}

function start(script: HTMLScriptElement): void {
  const { bot, label, notice, into, lang = document.documentElement.lang } = script.dataset;
  const { origin } = new URL(script.src);
  const texts: Readonly<Record<Text, string>> = lang.startsWith('hi') ? TEXTS.hi : TEXTS.en;
  const host = document.createElement('offhook-call');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];

  const button = element('button', { type: 'button', className: 'call' });
  const keys = element('div', { className: 'keys', hidden: true });
  keys.setAttribute('role', 'group');
  keys.setAttribute('aria-label', texts.keys);
  const status = element('p', { className: 'status' });
  status.setAttribute('role', 'status');
  const panel = element('div', { className: into === undefined ? 'panel corner' : 'panel' });
  panel.append(status, keys, button, element('p', { className: 'notice', textContent: notice ?? texts.notice }));
  root.append(panel);

  let call: BrowserCall | undefined;
  let isCalling = false;
  const show = (state: 'idle' | 'calling' | 'live', told: Text | undefined): void => {
    button.textContent = state === 'idle' ? (label ?? texts.call) : state === 'live' ? texts.hangUp : texts.calling;
    button.disabled = state === 'calling';
    keys.hidden = state !== 'live';
    status.textContent = told === undefined ? '' : texts[told];
    panel.dataset['state'] = state;
    // For the page around it: its statistics, its own words.
    host.dispatchEvent(new CustomEvent('offhook', { bubbles: true, composed: true, detail: { state, problem: told ?? null } }));
  };
  const begin = async (): Promise<string> => {
    const response = await fetch(`${origin}/embed/calls`, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: crypto.randomUUID(), ...(bot === undefined ? {} : { bot }) }),
    });
    if (response.status === 503 || response.status === 429) throw new Busy();
    if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
    const { streamUrl } = (await response.json()) as { readonly streamUrl: string };
    return origin.replace(/^http/u, 'ws') + new URL(streamUrl).pathname;
  };
  const dial = async (): Promise<void> => {
    isCalling = true;
    show('calling', undefined);
    try {
      call = await BrowserCall.start({
        begin,
        worklets: { microphone: `${origin}/embed/microphone-worklet.js`, speaker: `${origin}/embed/speaker-worklet.js` },
        onLevels: ({ caller, bot: heard }) =>
          panel.style.setProperty(caller === undefined ? '--bot' : '--caller', shown(caller ?? heard)),
        onOver(end) {
          call = undefined;
          show('idle', ENDS[end]);
        },
      });
      show('live', undefined);
    } catch (error) {
      show('idle', problemOf(error));
    }
    isCalling = false;
  };
  button.addEventListener('click', () => {
    if (call !== undefined) call.hangUp();
    else if (!isCalling) void dial();
  });
  for (const key of KEYS) {
    const press = element('button', { type: 'button', textContent: key });
    press.addEventListener('click', () => call?.press(key));
    keys.append(press);
  }
  show('idle', undefined);
  (into === undefined ? document.body : (document.querySelector(into) ?? document.body)).append(host);
}

const ENDS: Readonly<Record<CallEnd, Text>> = { 'hung-up': 'ended', ended: 'ended', lost: 'lost', unheard: 'missing' };

function problemOf(error: unknown): Text {
  if (error instanceof Busy) return 'busyHere';
  return error instanceof MicrophoneError ? (error.problem satisfies MicrophoneProblem) : 'failed';
}

/** A level as a length, 0 to 1: as ears hear, not as volts are. */
const shown = (rms = 0): string => Math.min(1, Math.sqrt(rms) * 1.6).toFixed(2);

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}

const own = document.currentScript;
if (own instanceof HTMLScriptElement) {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => start(own), { once: true });
  else start(own);
}
