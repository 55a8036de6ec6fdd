// The notebook's editor, in a shadow root: its constructed style sheets fit the page's policy.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { python } from '@codemirror/lang-python'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { EditorState, Prec } from '@codemirror/state'
import { EditorView, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export interface Editor {
  text(): string
  /** Replaces what is typed. */
  show(text: string): void
  close(): void
}

interface EditorOptions {
  text: string
  onChange: (text: string) => void
  onRun: () => void
  /** @param code the code up to the cursor */
  complete: (code: string) => Promise<{ words: string[]; replaced: string }>
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.function(tags.variableName), color: 'var(--code-name)' },
])

const looks = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)', minHeight: '72px', padding: '10px 0' },
  '.cm-line': { padding: '0 12px' },
  '.cm-scroller': { lineHeight: '1.55' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    color: 'var(--text)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
})

export function createEditor(parent: HTMLElement, { text, onChange, onRun, complete }: EditorOptions): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  const completions = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const code = context.state.doc.sliceString(0, context.pos)
    if (!context.explicit && !/[\w.]$/.test(code)) return null
    const { words, replaced } = await complete(code).catch(() => ({ words: [], replaced: '' }))
    const options = words.map((label) => ({ label, type: label.endsWith('(') ? 'function' : 'variable' }))
    return { from: context.pos - replaced.length, options, validFor: /^\w*$/ }
  }
  const run = (): boolean => {
    onRun()
    return true
  }
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      selection: { anchor: text.length },
      extensions: [
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Shift-Enter', run },
          ]),
        ),
        history(),
        python(),
        indentUnit.of('    '),
        bracketMatching(),
        autocompletion({ override: [completions], activateOnTypingDelay: 250 }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        syntaxHighlighting(colours),
        looks,
        placeholder('await mcp_…'),
        EditorView.lineWrapping,
        EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
        EditorView.contentAttributes.of({ 'aria-label': 'Python code' }),
      ],
    }),
  })
  view.focus()
  return {
    text: () => view.state.doc.toString(),
    show: (insert) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }),
    close: () => view.destroy(),
  }
}
