import type { ConfigOption, Named } from '../../../model/events/session.ts'
import { compact, type Fields, fields, isFields, list, text } from '../../kit/fields.ts'
import type { ReportedFacts } from '../../kit/known.ts'

/** Modes, models and options in the response to `session/new` or `session/load`. */
export function offered(native: Fields): ReportedFacts {
  const modes = fields(native, 'modes')
  const models = fields(native, 'models')
  // If a model is listed twice, under two names, only the option can be set.
  return {
    mode: text(modes, 'currentModeId'),
    model: text(models, 'currentModelId'),
    ...compact({
      modes: named(modes, 'availableModes', 'id'),
      models: named(models, 'availableModels', 'modelId'),
      commands: commandNames(native),
      ...configured(native),
    }),
  }
}

/** Some agents have options of these categories instead of modes and models. */
export function configured(native: Fields): ReportedFacts {
  if (!Array.isArray(native.configOptions)) return {}
  const configOptions = native.configOptions.filter(isFields).map(configOption)
  const value = (category: string) => {
    const chosen = configOptions.find((option) => option.category === category)
    return { id: typeof chosen?.value === 'string' ? chosen.value : undefined, choices: chosen?.choices }
  }
  const mode = value('mode')
  const model = value('model')
  return {
    configOptions,
    ...compact({ mode: mode.id, model: model.id, modes: mode.choices, models: model.choices }),
  }
}

function configOption(native: Fields): ConfigOption {
  const choices = list(native, 'options').flatMap(choicesIn)
  return {
    // The draft of the next version calls it `configId`.
    id: text(native, 'id') ?? text(native, 'configId') ?? '',
    ...compact({ name: text(native, 'name'), category: text(native, 'category') }),
    ...(native.currentValue !== undefined && { value: native.currentValue }),
    ...(choices.length > 0 && { choices }),
  }
}

/** Choices may be grouped. */
function choicesIn(native: unknown): Named[] {
  if (!isFields(native)) return []
  if (Array.isArray(native.options)) return native.options.flatMap(choicesIn)
  return nameOf(native, 'value')
}

function named(of: Fields, key: string, id: string): Named[] | undefined {
  if (!Array.isArray(of[key])) return undefined
  return list(of, key).flatMap((item) => (isFields(item) ? nameOf(item, id) : []))
}

function nameOf(native: Fields, key: string): Named[] {
  const id = text(native, key)
  if (id === undefined) return []
  return [{ id, ...compact({ name: text(native, 'name'), description: text(native, 'description') }) }]
}

export function commandNames(native: Fields): string[] | undefined {
  if (!Array.isArray(native.availableCommands)) return undefined
  return native.availableCommands.flatMap((command) =>
    isFields(command) ? (text(command, 'name') ?? []) : [],
  )
}
