import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, type SubmitEvent, useEffect, useState } from 'react';
import type { SpeechTrialView } from '../../../http/api/settings/settings-views.ts';
import { post } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Failure } from '../../parts/states.tsx';
import { say, useLanguage, useWords } from '../../words.ts';
import { modelWords } from './model-words.ts';
import { Part } from './parts.tsx';

/** A sentence that the synthesizer in use speaks, and the recogniser in use hears. @param languages codes that are offered beside English and Hindi */
export function SpeechTrial({ languages }: { readonly languages: readonly string[] }): ReactNode {
  const w = useWords(modelWords);
  const format = useFormat();
  const own = useLanguage();
  const [language, setLanguage] = useState<string>(own);
  const [text, setText] = useState(w.sample);
  const [isBusy, setBusy] = useState(false);
  const [trial, setTrial] = useState<SpeechTrialView & { readonly address: string }>();
  const [error, setError] = useState<Error>();
  useEffect(() => () => URL.revokeObjectURL(trial?.address ?? ''), [trial]);
  const run = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    setTrial(undefined);
    try {
      const found = await post<SpeechTrialView>('/speech/try', { text, language });
      const bytes = Uint8Array.from(atob(found.wav), (each) => each.codePointAt(0) ?? 0);
      setTrial({ ...found, address: URL.createObjectURL(new Blob([bytes], { type: 'audio/wav' })) });
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
    } finally {
      setBusy(false);
    }
  };
  const codes = [...new Set(['en', 'hi', ...languages.filter((code) => code !== 'auto')])].toSorted();
  return (
    <Part title={w.try}>
      <Text size="sm" c="dimmed" maw={720}>
        {w.tryHint}
      </Text>
      <form onSubmit={(event) => void run(event)}>
        <Group gap="xs" align="end">
          <Select
            label={w.language}
            data={codes}
            value={language}
            searchable
            allowDeselect={false}
            w={100}
            onChange={(next) => setLanguage(next ?? own)}
          />
          <TextInput
            label={w.sentence}
            flex="1 1 260px"
            maw={560}
            required
            withAsterisk={false}
            maxLength={200}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          <Button type="submit" loading={isBusy}>
            {w.run}
          </Button>
        </Group>
      </form>
      {error === undefined ? null : <Failure error={error} />}
      {trial === undefined ? null : (
        <Stack gap={4} component="output" display="flex">
          {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- its words are beside it */}
          <audio controls aria-label={w.listen} src={trial.address} />
          <Text size="sm">
            {w.heard}: <strong>{trial.heard === '' ? w.nothingHeard : trial.heard}</strong>
          </Text>
          <Text size="sm" c="dimmed">
            {say(w.spokenBy, { name: trial.synthesizer, time: format.duration(trial.firstAudioMs) })}{' '}
            {trial.finalMs === null ? null : say(w.heardBy, { name: trial.recogniser, time: format.duration(trial.finalMs) })}
          </Text>
        </Stack>
      )}
    </Part>
  );
}
