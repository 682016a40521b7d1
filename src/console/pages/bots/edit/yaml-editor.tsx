import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { yaml } from '@codemirror/lang-yaml';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { basicSetup } from 'codemirror';
import { type ReactNode, useEffect, useRef } from 'react';
import botSchema from '../../../../../config/schemas/bot.json' with { type: 'json' };
import type { BotProblemView } from '../../../../http/api/bots/bot-views.ts';
import { styleNonce } from '../../../parts/style-nonce.ts';
import { suggestionsAt } from './schema-completion.ts';

export interface YamlEditorProps {
  readonly text: string;
  readonly label: string;
  readonly change: (text: string) => void;
  readonly problems: readonly BotProblemView[];
  readonly isReadOnly?: boolean;
}

/** The file in an editor with completion from the bots' schema, and problems in their lines. */
export function YamlEditor({ text, label, change, problems, isReadOnly = false }: YamlEditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef({ text, change });
  useEffect(() => {
    latest.current = { text, change };
  });
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current ?? document.body,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          basicSetup,
          yaml(),
          lintGutter(),
          autocompletion({ override: [complete] }),
          EditorView.cspNonce.of(styleNonce()),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          EditorState.readOnly.of(isReadOnly),
          colours,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.change(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (editor !== undefined) editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor.state, problems)));
  }, [problems]);
  return <div ref={place} />;
}

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const { from, all } = suggestionsAt(botSchema, state.doc.toString(), pos); // its type is as large as the file
  if (all.length === 0 || (from === pos && !explicit)) return null;
  const options = all.map(({ label, kind, detail }) => ({
    label,
    detail,
    type: kind === 'key' ? 'property' : 'enum',
    apply: kind === 'key' ? `${label}: ` : label,
  }));
  return { from, options };
}

function diagnosticsOf({ doc }: EditorState, problems: readonly BotProblemView[]): Diagnostic[] {
  return problems.flatMap(({ line, column, message, nearest, severity }) => {
    if (line === null || line > doc.lines) return [];
    const { from, to } = doc.line(line);
    const start = Math.min(to, from + (column ?? 1) - 1);
    return [{ from: start, to, severity, message: nearest === null ? message : `${message} → ${nearest}` }];
  });
}

/** The console's own colours in both themes. */
const colours = EditorView.theme({
  '&': {
    fontSize: '13px',
    maxHeight: '68vh',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-sm)',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-color-anchor)' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-default)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-primary-color-filled)',
    color: 'var(--mantine-primary-color-contrast)',
  },
  '.cm-line span': { color: 'inherit' },
});
