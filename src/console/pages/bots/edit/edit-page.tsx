import { Alert, Anchor, Grid, Group, List, SegmentedControl, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { BotSourceView, BotView, DraftView } from '../../../../http/api/bots/bot-views.ts';
import { post } from '../../../api.ts';
import { ConfirmButton } from '../../../parts/confirm.tsx';
import { loaded } from '../../../parts/loaded.ts';
import { Failure, Loading, Page } from '../../../parts/states.tsx';
import { say, useWords } from '../../../words.ts';
import classes from '../bots.module.css';
import { BotChat, type ChatPlace } from '../chat.tsx';
import { FlowGraph } from '../flow-graph.tsx';
import { trafficOf, useBot } from '../queries.ts';
import { readForms } from './bot-yaml.ts';
import { BotFormsView } from './forms.tsx';
import { lineDiff } from './line-diff.ts';
import { PublishButton, type Published, PublishedNote } from './publish.tsx';
import { botPath, useQuickCheck, useSource } from './queries.ts';
import { StepsBar } from './steps-bar.tsx';
import { editWords } from './words.ts';
import type { YamlEditorProps } from './yaml-editor.tsx';

const YamlEditor = loaded<'YamlEditor', YamlEditorProps>(() => import('./yaml-editor.tsx'), 'YamlEditor');
/** A draft is checked when nothing was typed for so long. */
const TYPED_MS = 600;

/** Edits a bot: forms beside its graph, or its file as YAML, and the steps to a published version. */
export function EditBotPage(): ReactNode {
  const w = useWords(editWords);
  const { name } = useParams<{ name: string }>();
  const { data: bot, error } = useBot(name);
  const source = useSource(name);
  const [published, setPublished] = useState<Published>();
  const failure = error ?? source.error;
  return (
    <Page
      title={say(w.title, { bot: name })}
      actions={
        <Anchor component={Link} href={`/bots/${name}`} size="sm">
          {say(w.back, { bot: name })}
        </Anchor>
      }
    >
      {bot !== undefined && source.data !== undefined ? (
        <>
          {published === undefined ? null : <PublishedNote answer={published} />}
          <Editor key={source.data.revision} bot={bot} source={source.data} published={setPublished} />
        </>
      ) : failure === null ? (
        <Loading />
      ) : (
        <Failure error={failure} retry={() => void source.refetch()} />
      )}
    </Page>
  );
}

/** The draft of one revision of the file, which outlives a reload of the page. */
function useDraft(bot: string, { text, revision }: BotSourceView): readonly [draft: string, change: (draft: string) => void] {
  const key = `offhook.draft.${bot}.${revision}`;
  const [draft, setDraft] = useState(() => sessionStorage.getItem(key) ?? text);
  useEffect(() => {
    if (draft === text) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, draft);
  }, [draft, key, text]);
  return [draft, setDraft];
}

function Editor({
  bot,
  source,
  published,
}: {
  readonly bot: BotView;
  readonly source: BotSourceView;
  readonly published: (answer: Published) => void;
}): ReactNode {
  const w = useWords(editWords);
  const client = useQueryClient();
  const [draft, change] = useDraft(bot.name, source);
  const [view, setView] = useState<'forms' | 'yaml'>('forms');
  const [step, choose] = useState<string | undefined>();
  const [checked, setChecked] = useState<{ readonly draft: string; readonly answer: DraftView } | undefined>();
  const [typed] = useDebouncedValue(draft, TYPED_MS);
  const quick = useQuickCheck(bot.name, typed, source.readOnly === null);
  const forms = useMemo(() => readForms(draft), [draft]);
  const changes = useMemo(() => lineDiff(source.text, draft).filter(({ kind }) => kind !== 'same').length, [draft, source.text]);
  const isReadOnly = source.readOnly !== null;
  const whole = checked?.draft === draft ? checked.answer : undefined;
  const found = whole ?? quick.data ?? { ok: source.problems.length === 0, problems: source.problems, graph: bot.graph };
  const check = async (): Promise<void> => {
    const answer = await post<DraftView>(botPath(bot.name, '/check'), { text: draft });
    setChecked({ draft, answer });
  };
  const reload = (): Promise<void> => client.invalidateQueries({ queryKey: ['bots', bot.name] });
  const isBarred = isReadOnly || changes === 0;
  return (
    <Stack gap="md">
      {source.readOnly === null ? null : (
        <Alert color="yellow" variant="light" role="alert">
          <strong>{w.readOnly}.</strong> {source.readOnly}
        </Alert>
      )}
      <StepsBar bot={bot.name} draft={changes === 0 ? undefined : draft} isSound={found.ok} {...{ isReadOnly, whole, check }}>
        <PublishButton bot={bot.name} draft={draft} base={source.revision} {...{ isBarred, reload, published }} />
      </StepsBar>
      <Group justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label={w.view}
          value={view}
          onChange={(next) => setView(next === 'yaml' ? 'yaml' : 'forms')}
          data={[
            { value: 'forms', label: w.forms },
            { value: 'yaml', label: w.yaml },
          ]}
        />
        <Group gap="xs">
          <Text size="sm" className="figures" aria-live="polite">
            {changes === 0 ? w.unchanged : say(w.changed, { count: changes })}
          </Text>
          {changes === 0 ? null : (
            <ConfirmButton size="xs" label={w.discard} title={w.discardTitle} act={() => change(source.text)}>
              {w.discardHint}
            </ConfirmButton>
          )}
        </Group>
      </Group>
      <Grid>
        <Grid.Col span={{ base: 12, lg: view === 'yaml' ? 7 : 5 }}>
          {view === 'yaml' ? (
            <>
              <YamlEditor text={draft} label={w.editor} change={change} problems={found.problems} isReadOnly={isReadOnly} />
              <Text size="xs" c="dimmed" mt={4}>
                {w.editorHint}
              </Text>
            </>
          ) : forms === undefined ? (
            <Alert color="red" variant="light" role="alert">
              {w.invalid}
            </Alert>
          ) : (
            <fieldset disabled={isReadOnly} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
              <BotFormsView {...{ forms, step, choose, change }} source={draft} />
            </fieldset>
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: view === 'yaml' ? 5 : 7 }}>
          <DraftProblems problems={found.problems} />
          <Beside
            bot={bot}
            graph={found.graph ?? bot.graph}
            step={step}
            choose={choose}
            draft={changes === 0 ? undefined : draft}
            isSound={found.ok}
          />
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** What is wrong with the draft, by line. */
function DraftProblems({ problems }: Pick<DraftView, 'problems'>): ReactNode {
  const w = useWords(editWords);
  if (problems.length === 0) return null;
  const isBroken = problems.some(({ severity }) => severity === 'error');
  return (
    <Alert color={isBroken ? 'red' : 'yellow'} variant="light" mb="md" role="alert">
      <Text size="sm" fw={600}>
        {say(w.checkBad, { count: problems.length })}
      </Text>
      <List size="sm" listStyleType="none">
        {problems.map(({ key, line, value, message, nearest }) => (
          <List.Item key={`${key} ${line} ${message}`} className={classes['wrap'] ?? ''}>
            <strong>{line === null ? key : `${say(w.line, { line })}, ${key}`}</strong>
            {value === null ? '' : ` ${value}`}: {message}. {nearest === null ? '' : say(w.nearest, { name: nearest })}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** The graph of the draft, and a chat with it. */
function Beside({
  bot,
  graph,
  step,
  choose,
  draft,
  isSound,
}: {
  readonly bot: BotView;
  readonly graph: BotView['graph'];
  readonly step: string | undefined;
  readonly choose: (step: string) => void;
  readonly draft: string | undefined;
  readonly isSound: boolean;
}): ReactNode {
  const w = useWords(editWords);
  const [place, setPlace] = useState<ChatPlace>({ step: undefined, walked: [] });
  const traffic = useMemo(() => trafficOf(undefined), []);
  const walked = useMemo(() => new Set(place.walked), [place]);
  return (
    <Stack gap="md">
      {graph === null ? null : (
        <div>
          <FlowGraph bot={bot.name} {...{ graph, traffic, walked, choose }} chosen={step} current={place.step} />
          <Text size="xs" c="dimmed">
            {w.graphOfDraft}
          </Text>
        </div>
      )}
      <div id="draft-chat">
        <Text size="sm" mb="xs">
          {isSound ? w.draftChat : w.chatNeedsSound}
        </Text>
        <BotChat bot={bot.name} draft={draft} onPlace={setPlace} />
      </div>
    </Stack>
  );
}
