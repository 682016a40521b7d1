/** Style of the button on a customer's page; the page sets the colour by `--offhook-color` on any element around it. */
export const embedStyle = `
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
