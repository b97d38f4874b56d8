// SPDX-License-Identifier: Apache-2.0
// y[i] = the sum over j < count of PRODUCT(i, j), the product of one element of each operand. One item a result.
__kernel void run(PARAMETERS)
{
    if (OUTSIDE) {
        return;
    }
    const int i = X_ID;
    float sum = 0.0f, lost = 0.0f;
    for (int j0 = 0; j0 < count; j0 += RUN) {
        float part = 0.0f;
        for (int j = j0; j < min(count, j0 + RUN); j++) {
            part += PRODUCT(i, j);
        }
        ADD_RUN(sum, lost, part);
    }
    y[i] = WHOLE(sum, lost);
}
