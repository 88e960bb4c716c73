"""The type information of a Java array of strings as Flink writes it: a serialized Java object.

It is compared and printed, never read: it is the one such object that every old catalog may hold.
"""

from __future__ import annotations

#: URL-safe base64.
STRING_ARRAY = (
    "rO0ABXNyADdvcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZWluZm8uQmFzaWNBcnJheVR5cGVJbmZvAAAA"
    "AAAAAAECAAJMAAphcnJheUNsYXNzdAARTGphdmEvbGFuZy9DbGFzcztMAA1jb21wb25lbnRJbmZvdAA2TG9yZy9h"
    "cGFjaGUvZmxpbmsvYXBpL2NvbW1vbi90eXBlaW5mby9UeXBlSW5mb3JtYXRpb247eHIANG9yZy5hcGFjaGUuZmxp"
    "bmsuYXBpLmNvbW1vbi50eXBlaW5mby5UeXBlSW5mb3JtYXRpb26UjchIurN66wIAAHhwdnIAE1tMamF2YS5sYW5n"
    "LlN0cmluZzut0lbn6R17RwIAAHhwc3IAMm9yZy5hcGFjaGUuZmxpbmsuYXBpLmNvbW1vbi50eXBlaW5mby5CYXNp"
    "Y1R5cGVJbmZv-gTwgqVp3QYCAARMAAVjbGF6enEAfgABTAAPY29tcGFyYXRvckNsYXNzcQB-AAFbABdwb3NzaWJs"
    "ZUNhc3RUYXJnZXRUeXBlc3QAEltMamF2YS9sYW5nL0NsYXNzO0wACnNlcmlhbGl6ZXJ0ADZMb3JnL2FwYWNoZS9m"
    "bGluay9hcGkvY29tbW9uL3R5cGV1dGlscy9UeXBlU2VyaWFsaXplcjt4cQB-AAN2cgAQamF2YS5sYW5nLlN0cmlu"
    "Z6DwpDh6O7NCAgAAeHB2cgA7b3JnLmFwYWNoZS5mbGluay5hcGkuY29tbW9uLnR5cGV1dGlscy5iYXNlLlN0cmlu"
    "Z0NvbXBhcmF0b3IAAAAAAAAAAQIAAHhyAD5vcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZXV0aWxzLmJh"
    "c2UuQmFzaWNUeXBlQ29tcGFyYXRvcgAAAAAAAAABAgACWgATYXNjZW5kaW5nQ29tcGFyaXNvblsAC2NvbXBhcmF0"
    "b3JzdAA3W0xvcmcvYXBhY2hlL2ZsaW5rL2FwaS9jb21tb24vdHlwZXV0aWxzL1R5cGVDb21wYXJhdG9yO3hyADRv"
    "cmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZXV0aWxzLlR5cGVDb21wYXJhdG9yAAAAAAAAAAECAAB4cHVy"
    "ABJbTGphdmEubGFuZy5DbGFzczurFteuy81amQIAAHhwAAAAAHNyADtvcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21t"
    "b24udHlwZXV0aWxzLmJhc2UuU3RyaW5nU2VyaWFsaXplcgAAAAAAAAABAgAAeHIAQm9yZy5hcGFjaGUuZmxpbmsu"
    "YXBpLmNvbW1vbi50eXBldXRpbHMuYmFzZS5UeXBlU2VyaWFsaXplclNpbmdsZXRvbnmph6rHLndFAgAAeHIANG9y"
    "Zy5hcGFjaGUuZmxpbmsuYXBpLmNvbW1vbi50eXBldXRpbHMuVHlwZVNlcmlhbGl6ZXIAAAAAAAAAAQIAAHhw"
)
