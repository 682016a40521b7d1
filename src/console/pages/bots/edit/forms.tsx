import { Accordion, NumberInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useWords } from '../../../words.ts';
import { type BotForms, type ListField, type Path, setList, setValue, type TextField } from './bot-yaml.ts';
import { type EditWords, editWords } from './words.ts';

interface FormsProps {
  readonly forms: BotForms;
  readonly source: string;
  readonly change: (source: string) => void;
  /** The step whose texts are shown. */
  readonly step: string | undefined;
  readonly choose: (step: string) => void;
}

/** What of a bot can be changed in forms; each change is written into its place in the YAML. */
export function BotFormsView(props: FormsProps): ReactNode {
  const w = useWords(editWords);
  const { forms, source, change, step, choose } = props;
  const chosen = forms.steps.find(({ id }) => id === step) ?? forms.steps[0];
  const write = (path: Path, value: string | number): void => change(setValue(source, path, value));
  return (
    <Stack gap="md">
      {forms.greeting.length === 0 ? <Text size="sm">{w.noGreeting}</Text> : null}
      {forms.greeting.map((field) => (
        <SpokenText key={field.path.join('.')} field={field} label={labelOf(w.greeting, field, forms.greeting)} write={write} />
      ))}
      {forms.instructions === undefined ? null : (
        <SpokenText field={forms.instructions} label={w.instructions} write={write} rows={8} />
      )}
      <Accordion multiple variant="contained" defaultValue={['steps']} chevronPosition="left">
        {chosen === undefined ? null : (
          <Section name="steps" title={w.step}>
            <Select
              label={w.step}
              description={w.stepHint}
              allowDeselect={false}
              searchable
              value={chosen.id}
              data={forms.steps.map(({ id }) => id)}
              onChange={(id) => id !== null && choose(id)}
            />
            {chosen.texts.length === 0 ? <Text size="sm">{w.noTexts}</Text> : null}
            {chosen.texts.map((field) => (
              <SpokenText key={field.path.join('.')} field={field} label={field.label} write={write} />
            ))}
          </Section>
        )}
        {forms.choices.length === 0 ? null : (
          <Section name="choices" title={w.choices}>
            <Text size="sm">{w.choicesHint}</Text>
            {forms.choices.flatMap(({ slot, options }) =>
              options.map((field) => (
                <Lines key={keyOf(field)} field={field} label={`${slot}: ${field.label}`} {...{ source, change }} />
              )),
            )}
          </Section>
        )}
        <Section name="hints" title={w.hints}>
          <Lines
            key={forms.hints.join('\n')}
            field={{ path: ['hints'], label: '', items: forms.hints }}
            label={w.hints}
            hint={w.hintsHint}
            {...{ source, change }}
          />
        </Section>
        <Section name="settings" title={w.settings}>
          <SettingFields forms={forms} write={write} />
        </Section>
      </Accordion>
    </Stack>
  );
}

function Section({
  name,
  title,
  children,
}: {
  readonly name: string;
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>{title}</Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">{children}</Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}

/** The greeting has its keys beside it where it has several texts. */
function labelOf(name: string, { label }: TextField, all: readonly TextField[]): string {
  return all.length > 1 ? `${name}: ${label}` : name;
}

function SpokenText({
  field: { path, value },
  label,
  write,
  rows = 2,
}: {
  readonly field: TextField;
  readonly label: string;
  readonly write: (path: Path, value: string) => void;
  readonly rows?: number;
}): ReactNode {
  return (
    <Textarea
      label={label}
      autosize
      minRows={rows}
      maxRows={16}
      maxLength={50_000}
      value={value}
      onChange={({ currentTarget }) => currentTarget.value !== '' && write(path, currentTarget.value)}
    />
  );
}

/** A field begins anew where its list is changed elsewhere. */
function keyOf({ path, items }: ListField): string {
  return [...path, ...items].join('\n');
}

/** A list with one entry a line, which is written when the field is left. */
function Lines({
  field,
  label,
  hint,
  source,
  change,
}: Pick<FormsProps, 'source' | 'change'> & {
  readonly field: ListField;
  readonly label: string;
  readonly hint?: string;
}): ReactNode {
  const written = field.items.join('\n');
  const [typed, setTyped] = useState(written);
  const keep = (): void => {
    const items = typed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    if (items.join('\n') !== written) change(setList(source, field.path, items));
  };
  return (
    <Textarea
      label={label}
      {...(hint === undefined ? {} : { description: hint })}
      autosize
      minRows={2}
      maxRows={10}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={keep}
    />
  );
}

const TEXTS = ['voice', 'language', 'timeZone'] as const satisfies readonly (keyof EditWords)[];
const NUMBERS = ['speed', 'endpointingMs', 'noInputMs', 'noInputAttempts'] as const satisfies readonly (keyof EditWords)[];
const CHOICES = [
  { name: 'allow', path: ['interruption', 'allow'], words: ['always', 'keypad', 'never'] },
  { name: 'recording', path: ['recording'], words: ['never', 'after-announcement', 'after-consent', 'always'] },
] as const satisfies readonly { name: keyof EditWords; path: Path; words: readonly string[] }[];

function SettingFields({
  forms: { valueAt },
  write,
}: {
  readonly forms: BotForms;
  readonly write: (path: Path, value: string | number) => void;
}): ReactNode {
  const w = useWords(editWords);
  return (
    <>
      {TEXTS.map((name) => (
        <TextInput
          key={name}
          label={w[name]}
          placeholder={w.byDefault}
          value={valueAt([name])}
          maxLength={200}
          onChange={({ currentTarget }) => write([name], currentTarget.value)}
        />
      ))}
      {NUMBERS.map((name) => (
        <NumberInput
          key={name}
          label={w[name]}
          placeholder={w.byDefault}
          value={valueAt([name])}
          hideControls
          onChange={(value) => write([name], typeof value === 'bigint' ? Number(value) : value)}
        />
      ))}
      {CHOICES.map(({ name, path, words }) => (
        <Select
          key={name}
          label={w[name]}
          placeholder={w.byDefault}
          clearable
          value={valueAt(path) === '' ? null : valueAt(path)}
          data={[...words]}
          onChange={(value) => write(path, value ?? '')}
        />
      ))}
    </>
  );
}
