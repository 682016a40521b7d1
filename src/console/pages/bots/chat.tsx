import { Alert, Button, Group, Paper, Text, TextInput, Title } from '@mantine/core';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import type { BotChatEventView, BotChatView } from '../../../http/api/bots/bot-chat-routes.ts';
import { post, Refused, remove } from '../../api.ts';
import { Said, Told, Transcript } from '../../parts/transcript.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import classes from './bots.module.css';
import { type BotsWords, botsWords } from './words.ts';

/** Where a chat stands in its bot's flow. */
export interface ChatPlace {
  readonly step: string | undefined;
  readonly walked: readonly string[];
}

type Act = { readonly text: string } | { readonly digits: string } | { readonly silence: true };
type Line = BotChatEventView & { readonly id: number };

/** Talks to the bot in text, as `offhook chat` does. @param draft of the bot's file, in place of the bot @param onPlace told of each step that the bot comes to */
export function BotChat({
  bot,
  draft,
  onPlace,
}: {
  readonly bot: string;
  readonly draft?: string | undefined;
  readonly onPlace: (place: ChatPlace) => void;
}): ReactNode {
  const w = useWords(botsWords);
  const mayTalk = useMay('calls:talk');
  const [chat, setChat] = useState<BotChatView | undefined>();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | undefined>();
  const input = useRef<HTMLInputElement>(null);
  const goesOn = chat !== undefined && chat.endReason === null;
  const ask = async (request: () => Promise<BotChatView>, before: readonly Line[]): Promise<void> => {
    setBusy(true);
    setRefused(undefined);
    try {
      const answer = await request();
      const all = [...before, ...answer.events.map((event, index) => ({ ...event, id: before.length + index }))];
      setChat(answer);
      setLines(all);
      const walked = all.filter(({ type }) => type === 'step').map((line) => line.text);
      onPlace({ step: answer.step ?? undefined, walked });
    } catch (error) {
      setRefused(error instanceof Refused ? error.message : String(error));
      if (error instanceof Refused && error.status === 404) setChat(undefined);
    } finally {
      setBusy(false);
      input.current?.focus();
    }
  };
  const begin = (): void => {
    if (goesOn) void remove(`/bot-chats/${chat.id}`).catch(() => undefined);
    onPlace({ step: undefined, walked: [] });
    setLines([]);
    void ask(() => post<BotChatView>(`/bots/${encodeURIComponent(bot)}/chats`, draft === undefined ? {} : { draft }), []);
  };
  const act = (what: Act): void => {
    if (!goesOn || isBusy) return;
    setText('');
    void ask(() => post<BotChatView>(`/bot-chats/${chat.id}/turns`, what), lines);
  };
  const end = (): void => {
    if (!goesOn) return;
    void remove(`/bot-chats/${chat.id}`).catch(() => undefined);
    setChat(undefined);
    onPlace({ step: undefined, walked: [] });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const typed = text.trim();
    if (typed !== '') act(actOf(typed, chat?.keysOnly === true));
  };
  return (
    <Paper withBorder p="md" component="section" aria-label={w.chat}>
      <Title order={2} size="h5">
        {w.chat}
      </Title>
      <Text size="xs" c="dimmed" mb="sm">
        {w.chatHint}
      </Text>
      {mayTalk ? null : <Text size="sm">{w.chatMayNot}</Text>}
      {refused === undefined ? null : (
        <Alert color="red" variant="light" mb="sm" role="alert">
          {refused}
        </Alert>
      )}
      {lines.length === 0 ? null : (
        <Transcript label={w.chatLog} isLog>
          {lines.map((line) => (
            <ChatLine key={line.id} line={line} />
          ))}
          {chat === undefined || chat.endReason === null ? null : <Told>{say(w.chatOver, { reason: chat.endReason })}</Told>}
        </Transcript>
      )}
      {goesOn ? (
        <form onSubmit={submit}>
          <TextInput
            ref={input}
            mt="sm"
            label={chat.keysOnly ? w.chatKeys : w.chatInput}
            type={chat.keysOnly ? 'password' : 'text'}
            value={text}
            autoComplete="off"
            maxLength={1000}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Group gap="xs" mt="xs">
            <Button type="submit" size="xs" loading={isBusy}>
              {w.chatSend}
            </Button>
            <Button size="xs" variant="default" disabled={isBusy} onClick={() => act({ silence: true })}>
              {w.chatSilence}
            </Button>
            <Button size="xs" variant="default" onClick={end}>
              {w.chatEnd}
            </Button>
          </Group>
        </form>
      ) : (
        <Button mt="sm" size="xs" loading={isBusy} disabled={!mayTalk} onClick={begin}>
          {lines.length === 0 ? w.chatBegin : w.chatAgain}
        </Button>
      )}
      {chat === undefined ? null : <Standing chat={chat} />}
    </Paper>
  );
}

function Standing({ chat: { step, slots } }: { readonly chat: BotChatView }): ReactNode {
  const w = useWords(botsWords);
  const filled = Object.entries(slots).filter(([, value]) => value !== '');
  return (
    <Text size="sm" mt="sm" className={classes['wrap'] ?? ''}>
      {step === null ? '' : say(w.chatStep, { step })}
      {filled.length === 0 ? '' : ` · ${w.chatSlots}: ${filled.map(([name, value]) => `${name} = ${value}`).join(', ')}`}
    </Text>
  );
}

function ChatLine({ line: { type, text } }: { readonly line: Line }): ReactNode {
  const w = useWords(botsWords);
  if (type === 'says' || type === 'caller')
    return (
      <Said side={type === 'says' ? 'bot' : 'caller'} who={type === 'says' ? w.chatBot : w.chatCaller}>
        {text}
      </Said>
    );
  const told = eventText(type, text, w);
  return told === '' ? null : <Told>{told}</Told>;
}

function eventText(type: Exclude<BotChatEventView['type'], 'says' | 'caller'>, text: string, w: BotsWords): string {
  const forms = {
    plays: w.plays,
    keys: w.keys,
    silence: w.silent,
    unheard: w.unheard,
    understood: w.understood,
    step: w.chatStep.replace('{step}', '{text}'),
    slot: '{text}',
    note: w.note,
    asks: w.asksFor,
    transfer: w.transfers,
    presses: w.presses,
    bot: w.goesTo,
    'call-back': w.callBack,
    failure: w.failure,
    warning: w.warning,
  } as const;
  return say(forms[type], { text });
}

/** `#123` are keys, as in `offhook chat`; so are digits where keys alone are taken. */
function actOf(typed: string, keysOnly: boolean): Act {
  const digits = typed.replaceAll(/\s/gu, '');
  if (/^#[\d*#]+$/u.test(digits)) return { digits: digits.slice(1) };
  return keysOnly && /^[\d*#]+$/u.test(digits) ? { digits } : { text: typed };
}
