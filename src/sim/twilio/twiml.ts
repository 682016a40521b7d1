import { readAnswerXml, type XmlElement } from '../answer-xml.ts';

/** One instruction of an answer document that the simulated carrier obeys. */
export type Verb =
  | {
      readonly verb: 'stream';
      readonly url: string;
      readonly parameters: Readonly<Record<string, string>>;
      readonly attributes: Readonly<Record<string, string>>;
    }
  | { readonly verb: 'say'; readonly text: string }
  | { readonly verb: 'play'; readonly url: string; readonly digits: string }
  | { readonly verb: 'pause'; readonly seconds: number }
  | { readonly verb: 'redirect'; readonly url: string }
  /** The call goes on with somebody else. */
  | { readonly verb: 'dial'; readonly to: string }
  /** The call goes on in a conference. */
  | { readonly verb: 'conference'; readonly room: string; readonly attributes: Readonly<Record<string, string>> }
  | { readonly verb: 'hang-up' }
  /** Passed over. */
  | { readonly verb: 'unknown'; readonly name: string };

/** Reads an answer document: the verbs inside `<Response>`, in order. @throws SyntaxError when the text is no well-formed TwiML */
export function readTwiml(document: string): readonly Verb[] {
  return readAnswerXml(document).flatMap(verbsOf);
}

function verbsOf({ name, attributes, text, children }: XmlElement): readonly Verb[] {
  switch (name) {
    case 'Connect':
      return children.filter((child) => child.name === 'Stream').map(streamOf);
    case 'Dial':
      return children.flatMap((callee): Verb[] => {
        if (callee.name === 'Conference') return [{ verb: 'conference', room: callee.text, attributes: callee.attributes }];
        return ['Number', 'Sip'].includes(callee.name) ? [{ verb: 'dial', to: callee.text }] : [];
      });
    case 'Say':
      return [{ verb: 'say', text }];
    case 'Play':
      return [{ verb: 'play', url: text, digits: attributes['digits'] ?? '' }];
    case 'Pause':
      return [{ verb: 'pause', seconds: Number(attributes['length'] ?? 1) }];
    case 'Redirect':
      return [{ verb: 'redirect', url: text }];
    case 'Hangup':
    case 'Reject':
      return [{ verb: 'hang-up' }];
    default:
      return [{ verb: 'unknown', name }];
  }
}

function streamOf({ attributes, children }: XmlElement): Verb {
  const given = children.filter(({ name }) => name === 'Parameter').map((parameter) => parameter.attributes);
  const parameters = Object.fromEntries(given.map(({ name = '', value = '' }) => [name, value]));
  return { verb: 'stream', url: attributes['url'] ?? '', parameters, attributes };
}
